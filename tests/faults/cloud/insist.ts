// A tenant who repeats a request, with the same key, until it is answered; and responses that must not occur.
import { setTimeout as sleep } from 'node:timers/promises'

import type { CloudClient, Reply } from '../../../apps/cloud/test/cloud-client.ts'
import type { SeededRandom } from '../../../tools/lab/src/system/seeded-random.ts'

/** Longer than this is a hang. */
const HANGS_MS = 30_000
const GIVES_UP_MS = 120_000
const ASK_AGAIN_MS = 250

export interface Answers {
  /** No response, or the response was lost. */
  lost: number
  /** 503 with Retry-After. */
  later: number
  /** A response that no client should get. */
  readonly wrong: string[]
}

export interface Asking {
  readonly client: CloudClient
  readonly ways: readonly [string, ...string[]]
  readonly chance: SeededRandom
  readonly answers: Answers
}

export interface Question {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  readonly body?: string
  /** The same in every attempt. */
  readonly key?: string
}

/** At any address, until there is a definite response. */
export async function insist(asking: Asking, question: Question): Promise<Reply> {
  const { method, path } = question
  const deadline = performance.now() + GIVES_UP_MS
  for (;;) {
    const reply = await askOnce(asking, question)
    if (reply) return reply
    if (performance.now() > deadline) throw new Error(`${method} ${path} was never answered`)
    await sleep(ASK_AGAIN_MS)
  }
}

async function askOnce(
  { client, ways, chance, answers }: Asking,
  { method, path, body, key }: Question,
): Promise<Reply | undefined> {
  const way = chance.pick(ways)
  const signal = AbortSignal.timeout(HANGS_MS)
  try {
    const reply = await client.at(way).ask(method, path, {
      ...(body !== undefined && { body }),
      ...(key !== undefined && { headers: { 'idempotency-key': key } }),
      signal,
    })
    if (reply.status < 500) return reply
    if (reply.status === 503 && reply.headers['retry-after'] !== undefined) answers.later += 1
    else answers.wrong.push(`${method} ${path} at ${way}: ${reply.status} ${reply.text}`)
  } catch (error) {
    if (signal.aborted) answers.wrong.push(`${method} ${path} at ${way}: no answer in 30 s`)
    else if ((error as NodeJS.ErrnoException).code === undefined) throw error
    answers.lost += 1
  }
  return undefined
}
