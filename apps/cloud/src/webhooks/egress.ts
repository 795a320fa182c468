import { Fault } from '@skerry/fault'
import { askEgress, isRefusal } from '@skerry/service'
import type { OrgId } from '@skerry/vm'

import { BATCH_TYPE } from './batch.ts'
import type { Outcome } from './decide-delivery.ts'
import type { SignedHeaders } from './signature.ts'

/** A receiver that takes longer has not taken it. */
const ANSWER_MS = 15_000
const TEXT_MAX = 300

export interface WebhookMessage {
  readonly org: OrgId
  readonly url: string
  readonly headers: SignedHeaders
  readonly body: string
}

/** Sends a message to its receiver. Never throws, unless `signal` is aborted. */
export type PostMessage = (message: WebhookMessage, signal?: AbortSignal) => Promise<Outcome>

/** Through the egress, which allows only servers on the list of the organisation, and follows no redirection. */
export const postThrough =
  (socket: string, answerMs = ANSWER_MS): PostMessage =>
  async ({ org, url, headers, body }, signal) => {
    const late = AbortSignal.timeout(answerMs)
    const over = signal ? AbortSignal.any([signal, late]) : late
    const asked = {
      org,
      method: 'POST',
      uri: url,
      headers: { 'content-type': BATCH_TYPE, 'user-agent': 'skerry-webhook', ...headers },
      body: Buffer.from(body).toString('base64'),
    }
    try {
      const answer = await askEgress(socket, asked, over)
      if (isRefusal(answer)) {
        return { is: 'unanswered', why: answer.message.slice(0, TEXT_MAX) }
      }
      return { is: 'answered', status: answer.status }
    } catch (error) {
      if (signal?.aborted) throw error
      if (late.aborted) return { is: 'unanswered', why: `no answer within ${answerMs / 1000} s` }
      if (error instanceof Fault) return { is: 'unsent' }
      throw error
    }
  }
