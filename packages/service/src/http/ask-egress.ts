// The client of the egress: this process never connects to external servers.
import { request, type IncomingMessage } from 'node:http'

import { Fault, faultKinds, type FaultBody } from '@skerry/fault'

import { readBytes } from './read-bytes.ts'

/** One request to an external server, by the list of an organisation. */
export interface EgressRequest {
  readonly org: string
  readonly method: string
  readonly uri: string
  readonly headers: Readonly<Record<string, string>>
  /** base64 */
  readonly body?: string
}

export interface EgressAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** base64 */
  readonly body: string
}

/** The egress bounds what external servers send; this bounds the egress. */
const MOST_BYTES = 1024 * 1024

/**
 * Returns the answer of the external server, or the refusal of the egress. Throws a Fault `unavailable` if the egress itself is
 * unreachable.
 */
export async function askEgress(
  socketPath: string,
  asked: EgressRequest,
  signal: AbortSignal,
): Promise<EgressAnswer | FaultBody> {
  try {
    const response = await post(socketPath, JSON.stringify(asked), signal)
    return readAnswer(await textOf(response))
  } catch (error) {
    if (signal.aborted) throw error
    throw new Fault('unavailable', 'the egress is not reachable', { cause: error })
  }
}

export const isRefusal = (answer: EgressAnswer | FaultBody): answer is FaultBody =>
  'error' in answer

const post = (socketPath: string, body: string, signal: AbortSignal): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    }
    const sent = request(
      { socketPath, method: 'POST', path: '/v1/fetch', headers, signal },
      resolve,
    )
    sent.on('error', reject)
    sent.end(body)
  })

async function textOf(response: IncomingMessage): Promise<string> {
  const tooLarge = () => new Error('unexpected response from the egress')
  return (await readBytes(response, MOST_BYTES, tooLarge)).toString('utf8')
}

function readAnswer(whole: string): EgressAnswer | FaultBody {
  const content = JSON.parse(whole) as Partial<EgressAnswer & FaultBody>
  const isFault = (faultKinds as readonly unknown[]).includes(content.error)
  const isAnswer = typeof content.status === 'number' && typeof content.body === 'string'
  if (isFault || (content.error === undefined && isAnswer)) {
    return content as EgressAnswer | FaultBody
  }
  throw new Error('unexpected response from the egress')
}
