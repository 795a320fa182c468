// Clients that continuously send every kind of request to two cells while the backends below them die, and record every response.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'

import { until } from '@skerry/lab'
import { attribute, childrenByLocalName } from '@skerry/xml'

import { taskOf, type CloudClient, type Reply } from '../../apps/cloud/test/cloud-client.ts'
import type { SmallCloud } from '../../apps/cloud/test/small-cloud.ts'

export const kinds = ['read', 'query', 'logIn', 'create', 'power'] as const
export type Kind = (typeof kinds)[number]

/** Requests that create work are sent less often, or their end would take longer than the outage. */
const paceMs: Readonly<Record<Kind, number>> = {
  read: 100,
  query: 100,
  logIn: 500,
  create: 1000,
  power: 1000,
}

export interface Answer {
  readonly kind: Kind
  readonly beganAt: number
  readonly endedAt: number
  readonly status: number
  readonly retryAfter: string | undefined
  /** The subject of a 2xx: the created task, or the token. */
  readonly subject: string
  readonly text: string
  /** The name and the key of a create request. */
  readonly key: string
}

export interface Callers extends AsyncDisposable {
  readonly answers: readonly Answer[]
  /** Resolves when each kind was answered with success by each cell, requested after this call. */
  untilAllWell(withinMs: number): Promise<void>
  /** Sends no more requests; waits for those in progress. */
  stop(): Promise<void>
}

/** What the clients need: a vApp that they may power, and the name of those whose state they read. */
export interface Asked {
  /** The name prefix of their vApps. */
  readonly prefix: string
  readonly power: string
  readonly still: string
}

/** One client for each kind of request at each cell. */
export async function startCallers(cloud: SmallCloud, requested: Asked): Promise<Callers> {
  const client = await cloud.logIn()
  const start = await client.start()
  const answers: (Answer & { cell: number })[] = []
  const over = new AbortController()
  const loop = async (kind: Kind, cell: number): Promise<void> => {
    const at = client.at(cloud.cells[cell]?.url ?? '')
    for (let n = 0; !over.signal.aborted; n += 1) {
      const key = `${requested.prefix}-${kind}-${cell}-${n}`
      const beganAt = performance.now()
      const reply = await ways[kind](cloud, { cell, n, at, key, ...start, ...requested }).catch(
        unanswered,
      )
      const { status, headers, text } = reply
      const retryAfter = headers['retry-after']?.toString()
      const subject = subjectOf(kind, reply)
      const endedAt = performance.now()
      answers.push({ kind, cell, beganAt, endedAt, status, retryAfter, subject, text, key })
      await sleep(paceMs[kind])
    }
  }
  const loops = kinds.flatMap((kind) => cloud.cells.map((_, cell) => loop(kind, cell)))
  const stop = async () => {
    over.abort()
    await Promise.all(loops)
  }
  return {
    answers,
    stop,
    async untilAllWell(withinMs) {
      const now = performance.now()
      const wants = kinds.flatMap((kind) => cloud.cells.map((_, cell) => ({ kind, cell })))
      const isWell = (want: (typeof wants)[number]) =>
        answers.some(
          (each) =>
            each.kind === want.kind &&
            each.cell === want.cell &&
            each.beganAt >= now &&
            each.status < 300,
        )
      await until('all requests succeed', () => wants.every(isWell), withinMs)
    },
    [Symbol.asyncDispose]: stop,
  }
}

/** The cell closed the connection, or does not exist. */
const unanswered = (error: unknown): Reply => ({
  status: 999,
  headers: {},
  text: String(error),
  root: undefined,
})

interface Ask extends Asked {
  readonly cell: number
  readonly n: number
  readonly at: CloudClient
  readonly key: string
  readonly vdc: string
  readonly template: string
}

const ways: Readonly<Record<Kind, (cloud: SmallCloud, ask: Ask) => Promise<Reply>>> = {
  read: (_, { at, power }) => at.ask('GET', power),
  query: (_, { at, still }) => at.ask('GET', `/api/query?type=vm&filter=containerName==${still}`),
  logIn: (cloud, { cell }) => cloud.tryLogIn(cell),
  create: (_, { at, key, ...start }) => create(at, start, key),
  power: (_, { at, n, power }) =>
    at.ask('POST', `${power}/power/action/${n % 2 === 0 ? 'powerOff' : 'powerOn'}`),
}

/** The same key again is the same request. */
export function create(
  at: CloudClient,
  { vdc, template }: { readonly vdc: string; readonly template: string },
  key: string,
): Promise<Reply> {
  return at.ask('POST', `${vdc}/action/instantiateVAppTemplate`, {
    body: `<InstantiateVAppTemplateParams name="${key}" powerOn="false"><Source href="${template}"/></InstantiateVAppTemplateParams>`,
    headers: { 'idempotency-key': key },
  })
}

function subjectOf(kind: Kind, { status, root, headers }: Reply): string {
  if (status >= 300) return ''
  if (kind === 'create' || kind === 'power') return taskOf(root).slice(-36)
  if (kind === 'logIn') return String(headers['x-cloud-authorization'])
  if (kind !== 'query') return ''
  const records = childrenByLocalName(root, 'VMRecord')
  assert.ok(records.length > 0, 'existing resources are found')
  return records.map((record) => attribute(record, 'status')).join()
}
