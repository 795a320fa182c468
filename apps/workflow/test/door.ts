// The workflow server as a client meets it over HTTP: real PostgreSQL, two organisations, a simulated cloud and no Temporal.
import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { request } from 'node:http'
import type { AddressInfo } from 'node:net'

import { makeSeal } from '@skerry/service'
import { readXml, type Element } from '@skerry/xml'

import { startDatabases } from '../../cloud/test/cloud-database.ts'
import { buildServer } from '../src/http/server.ts'
import { RememberedWho } from '../src/http/who.ts'
import type { Role, Who } from '../src/identity/rights.ts'
import { routes } from '../src/routes.ts'
import { addSchedule } from '../src/store/schedules.ts'
import { startEvaluator } from '../src/worker/evaluate.ts'
import type { RequestWorld } from '../src/world.ts'
import {
  PASSWORD,
  simulatedCloud,
  simulatedRuns,
  type SimulatedCloud,
  type SimulatedRuns,
} from './simulated-cloud.ts'
import {
  openWorkflowDatabase,
  seedExecution,
  seedWorkflow,
  someone,
  type orgs,
  type WorkflowDatabase,
} from './workflow-database.ts'

/** The public address: it stands in every link, although the test listens elsewhere. */
export const BASE = 'https://workflows.example:8281'

export interface Answered {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
  readonly bytes: Buffer
}

export interface Asked {
  readonly as?: Who | undefined
  readonly accept?: string | undefined
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
}

export type Ask = (method: string, path: string, asked?: Asked) => Promise<Answered>

/** An organisation with a user, and the id of everything that a path may name. */
export interface Tenant {
  readonly who: Who
  readonly ids: Readonly<Record<string, string>>
}

export interface Door extends AsyncDisposable {
  readonly store: WorkflowDatabase
  readonly cloud: SimulatedCloud
  readonly runs: SimulatedRuns
  readonly port: number
  readonly ask: Ask
  readonly eng: Tenant
  readonly ops: Tenant
  /** A new user of this role. */
  enter(org: keyof typeof orgs, role: Role): Who
}

export const authorization = ({ user, orgName }: Who, password = PASSWORD): string =>
  `Basic ${Buffer.from(`${user}@${orgName}:${password}`).toString('base64')}`

/** `functions`: the names that a definition may call. */
export async function openDoor(
  functions: ReadonlySet<string> = new Set(['skerry.vm.powerOn']),
): Promise<Door> {
  const postgres = await startDatabases()
  const store = await openWorkflowDatabase(postgres)
  const [cloud, runs] = [simulatedCloud(), simulatedRuns()]
  const evaluator = startEvaluator({ threads: 1 })
  const sealKey = randomBytes(32).toString('base64')
  const world: RequestWorld = {
    ...{ runs, grants: cloud.grants, base: new URL(BASE), runsPerOrg: 1000 },
    as: (who, work) => store.as(who, work),
    seal: makeSeal(
      () => sealKey,
      () => randomBytes(12),
    ),
    clock: { now: () => new Date() },
    uuid: randomUUID,
    isReady: async () => true,
    functions,
    evaluate: (asked) => evaluator.evaluate(asked),
  }
  const whoIs = new RememberedWho(cloud, { key: randomBytes(32), now: () => performance.now() })
  const mistakes: unknown[] = []
  const log = (message: string, cause?: unknown) => mistakes.push([message, cause])
  const server = buildServer(world, routes, whoIs, { requestId: randomUUID, log })
  await server.listen({ port: 0, host: '127.0.0.1' })
  const { port } = server.server.address() as AddressInfo
  const enter = (org: keyof typeof orgs, role: Role): Who => {
    const who = someone(org, role)
    cloud.add(who)
    return who
  }
  return {
    ...{ store, cloud, runs, port, enter },
    ask: (method, path, asked = {}) => send(port, method, path, asked),
    eng: await addTenant(store, enter('eng', 'author')),
    ops: await addTenant(store, enter('ops', 'author')),
    async [Symbol.asyncDispose]() {
      await server.close()
      whoIs[Symbol.dispose]()
      await evaluator[Symbol.asyncDispose]()
      await store[Symbol.asyncDispose]()
      await postgres[Symbol.asyncDispose]()
      assert.deepEqual(mistakes, [], 'nothing that was asked met a mistake of ours')
    },
  }
}

async function addTenant(store: WorkflowDatabase, who: Who): Promise<Tenant> {
  const made = await seedWorkflow(store, who, {
    ...{ name: 'Send Hello', folder: 'Library/Mail', description: 'Says hello.', tags: ['mail'] },
    form: {
      type: 'object',
      properties: {
        name: { type: 'string', description: 'Whom to greet.' },
        times: { type: 'number', default: 1 },
        word: { type: 'string', format: 'password' },
      },
      required: ['name'],
    },
  })
  const execution = await seedExecution(store, who, made, { name: 'John' })
  const schedule = randomUUID()
  await store.as(who, (tx) =>
    addSchedule(tx, {
      ...{ org: who.org, id: schedule, workflow: made.id, name: 'nightly', grant: randomUUID() },
      ...{ account: who.account, accountName: who.user, cron: '0 3 * * *' },
      ...{ everySeconds: undefined, timeZone: 'UTC', overlap: 'skip', paused: false, input: {} },
    }),
  )
  const { id: workflow, category } = made
  return { who, ids: { workflow, execution, schedule, category: category.id } }
}

/** The path of a row with the ids of this tenant in it. */
export const filled = (path: string, ids: Readonly<Record<string, string>>): string =>
  path.replaceAll(/:(\w+)/g, (_, name: string) => ids[name] ?? assert.fail(`no ${name}`))

async function send(port: number, method: string, path: string, asked: Asked): Promise<Answered> {
  const { as, accept, body } = asked
  const headers = {
    ...(as && { authorization: authorization(as) }),
    ...(accept !== undefined && { accept }),
    ...asked.headers,
  }
  const answer = Promise.withResolvers<Answered>()
  const sent = request({ port, host: '127.0.0.1', method, path, headers }, (response) => {
    const parts: Buffer[] = []
    response.on('data', (part: Buffer) => parts.push(part))
    response.on('end', () => {
      const bytes = Buffer.concat(parts)
      const { statusCode: status = 0, headers: got } = response
      answer.resolve({ status, headers: got, bytes, text: bytes.toString('utf8') })
    })
    response.on('error', answer.reject)
  })
  sent.on('error', answer.reject)
  sent.end(body)
  return answer.promise
}

/** The document of an answer that has this status, in the format that its type says. */
export function readAnswer(answer: Answered, expected = 200): Element {
  assert.equal(answer.status, expected, answer.text)
  assert.equal(answer.headers['content-type'], 'application/xml; charset=utf-8', answer.text)
  // Lists of ours are longer than what is taken from others.
  const root = readXml(answer.text, { bytesMax: 16 * 1024 * 1024, nodesMax: 1_000_000 })
  assert.equal(root.attributes['xmlns'], 'urn:skerry:workflow')
  return root
}

// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- A test says what it expects to read.
export function readJson<T = Record<string, unknown>>(answer: Answered, expected = 200): T {
  assert.equal(answer.status, expected, answer.text)
  assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8', answer.text)
  return JSON.parse(answer.text) as T
}
