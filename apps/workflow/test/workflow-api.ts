// A workflow server over HTTP for tests: real PostgreSQL, two organisations, a simulated cloud and no Temporal.
import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { request } from 'node:http'
import type { AddressInfo } from 'node:net'

import { startEvaluator } from '@skerry/jq'
import { makeSeal, type ListenerTls } from '@skerry/service'
import { readXml, type Element } from '@skerry/xml'
import type { FastifyInstance } from 'fastify'

import { startDatabases } from '../../cloud/test/cloud-database.ts'
import type { WorkflowRequestContext } from '../src/context.ts'
import { CachingAuthenticator } from '../src/http/authenticator.ts'
import { byPassword, type Identify } from '../src/http/identify.ts'
import { buildServer } from '../src/http/server.ts'
import { OpenStreams } from '../src/identity/open-streams.ts'
import type { WorkflowRole, WorkflowPrincipal } from '../src/identity/rights.ts'
import { routes } from '../src/routes.ts'
import { holdToOpenApi } from './held-to-openapi.ts'
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
  seedSchedule,
  seedWorkflow,
  someone,
  type orgs,
  type WorkflowDatabase,
  workflowTables,
} from './workflow-database.ts'

/** The public URL in every link, although the test listens elsewhere. */
export const BASE = 'https://workflows.example:8281'

export interface Answered {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
  readonly bytes: Buffer
}

export interface Asked {
  readonly as?: WorkflowPrincipal | undefined
  readonly accept?: string | undefined
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
}

export type Ask = (method: string, path: string, requested?: Asked) => Promise<Answered>

/** An organisation with a user, and the ids of all resources that a path may name. */
export interface Tenant {
  readonly principal: WorkflowPrincipal
  readonly ids: Readonly<Record<string, string>>
}

export interface WorkflowApi extends AsyncDisposable {
  readonly store: WorkflowDatabase
  readonly cloud: SimulatedCloud
  readonly runs: SimulatedRuns
  readonly port: number
  readonly ask: Ask
  readonly eng: Tenant
  readonly ops: Tenant
  /** Opens another listener of the same server, and returns its port. */
  openListener(identify: Identify, tls: ListenerTls): Promise<number>
  /** A new user with this role. */
  enter(org: keyof typeof orgs, role: WorkflowRole): WorkflowPrincipal
}

export const authorization = ({ user, orgName }: WorkflowPrincipal, password = PASSWORD): string =>
  `Basic ${Buffer.from(`${user}@${orgName}:${password}`).toString('base64')}`

/** `functions`: the names that a definition may call. */
export async function openWorkflowApi(
  functions: ReadonlySet<string> = new Set(['skerry.vm.powerOn']),
): Promise<WorkflowApi> {
  const postgres = await startDatabases(workflowTables)
  const store = await openWorkflowDatabase(postgres)
  const [cloud, runs] = [simulatedCloud(), simulatedRuns()]
  const evaluator = startEvaluator({ threads: 1 })
  const sealKey = randomBytes(32).toString('base64')
  const runtime: WorkflowRequestContext = {
    runs,
    grants: cloud.grants,
    base: new URL(BASE),
    runsPerOrg: 1000,
    streams: new OpenStreams(() => performance.now()),
    as: (principal, work) => store.as(principal, work),
    seal: makeSeal(
      () => sealKey,
      () => randomBytes(12),
    ),
    clock: { now: () => new Date() },
    uuid: randomUUID,
    isReady: async () => true,
    functions,
    evaluate: (requested) => evaluator.evaluate(requested),
    findInvalid: (schema, value) => evaluator.findInvalid(schema, value),
  }
  const authenticator = new CachingAuthenticator(cloud, {
    key: randomBytes(32),
    now: () => performance.now(),
  })
  const mistakes: unknown[] = []
  const log = (message: string, cause?: unknown) => mistakes.push([message, cause])
  const servers: FastifyInstance[] = []
  const open = async (identify: Identify, tls?: ListenerTls): Promise<number> => {
    const options = { requestId: randomUUID, log, ...(tls && { tls }) }
    const server = buildServer(runtime, routes, identify, options)
    servers.push(server)
    await server.listen({ port: 0, host: '127.0.0.1' })
    return (server.server.address() as AddressInfo).port
  }
  const port = await open(byPassword(authenticator))
  const enter = (org: keyof typeof orgs, role: WorkflowRole): WorkflowPrincipal => {
    const principal = someone(org, role)
    cloud.add(principal)
    return principal
  }
  return {
    store,
    cloud,
    runs,
    port,
    enter,
    openListener: open,
    ask: (method, path, requested = {}) => send(port, method, path, requested),
    eng: await addTenant(store, enter('eng', 'author')),
    ops: await addTenant(store, enter('ops', 'author')),
    async [Symbol.asyncDispose]() {
      for (const server of servers) await server.close()
      authenticator[Symbol.dispose]()
      await evaluator[Symbol.asyncDispose]()
      await store[Symbol.asyncDispose]()
      await postgres[Symbol.asyncDispose]()
      assert.deepEqual(mistakes, [], 'no request caused an internal error')
    },
  }
}

async function addTenant(store: WorkflowDatabase, principal: WorkflowPrincipal): Promise<Tenant> {
  const made = await seedWorkflow(store, principal, {
    name: 'Send Hello',
    folder: 'Library/Mail',
    description: 'Says hello.',
    tags: ['mail'],
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
  const execution = await seedExecution(store, principal, made, { name: 'John' })
  const schedule = await seedSchedule(store, principal, { workflow: made.id })
  const { id: workflow, category } = made
  return { principal, ids: { workflow, execution, schedule, category: category.id } }
}

/** The path of a route with the ids of this tenant. */
export const filled = (path: string, ids: Readonly<Record<string, string>>): string =>
  path.replaceAll(/:(\w+)/g, (_, name: string) => ids[name] ?? assert.fail(`no ${name}`))

async function send(
  port: number,
  method: string,
  path: string,
  requested: Asked,
): Promise<Answered> {
  const { as, accept, body } = requested
  const headers = {
    ...(as && { authorization: authorization(as) }),
    ...(accept !== undefined && { accept }),
    ...requested.headers,
  }
  const answer = Promise.withResolvers<Answered>()
  const sent = request({ port, host: '127.0.0.1', method, path, headers }, (response) => {
    const parts: Buffer[] = []
    response.on('data', (part: Buffer) => parts.push(part))
    response.on('end', () => {
      const bytes = Buffer.concat(parts)
      const { statusCode: status = 0, headers: got } = response
      const text = bytes.toString('utf8')
      try {
        holdToOpenApi({ method, path }, { status, type: got['content-type'], text })
        answer.resolve({ status, headers: got, bytes, text })
      } catch (error) {
        answer.reject(error)
      }
    })
    response.on('error', answer.reject)
  })
  sent.on('error', answer.reject)
  sent.end(body)
  return answer.promise
}

/** The parsed document of a response with this status, in the format of its content type. */
export function readAnswer(answer: Answered, expected = 200): Element {
  assert.equal(answer.status, expected, answer.text)
  assert.equal(answer.headers['content-type'], 'application/xml; charset=utf-8', answer.text)
  // Our lists are larger than the limit for foreign documents.
  const root = readXml(answer.text, { bytesMax: 16 * 1024 * 1024, nodesMax: 1_000_000 })
  assert.equal(root.attributes['xmlns'], 'urn:skerry:workflow')
  return root
}

// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- A test states the type that it expects.
export function readJson<T = Record<string, unknown>>(answer: Answered, expected = 200): T {
  assert.equal(answer.status, expected, answer.text)
  assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8', answer.text)
  return JSON.parse(answer.text) as T
}
