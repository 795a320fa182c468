// Threat: a client that reaches Temporal's ports, on the machine or in its network, starts, signals, reads and ends the work of
// all tenants; a client with a certificate but without the sealing key acts on behalf of tenants. Method: a lab created by the
// product's own commands. Another user of the machine tries every call of every port, plain, without a certificate and with one
// of another issuer. A holder of a certificate then sends unsealed values, and triggers a paused schedule with sealed ones.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtempDisposable, readFile, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'

import {
  reasonToSkip,
  reasonWithoutTemporal,
  startIssuer,
  startLab,
  until,
  type Lab,
  type LabCloud,
  type LabWorkflow,
} from '@skerry/lab'
import { splitBundle } from '@skerry/service'
import { temporalPorts } from '@skerry/site'
import { connectTemporal, type TemporalClient } from '@skerry/temporal'

import { sealedConverter } from '../../apps/workflow/src/runs/codec.ts'
import { inNetworkNamed } from '../../tools/lab/src/network/netns.ts'
import { curlWith, JSON_ASKED } from '../accept/workflow/curl.ts'
import type { Attack, Attempt } from './temporal/attack.ts'

const run = promisify(execFile)
const skip = reasonToSkip('host', 'cloud') ?? (await reasonWithoutTemporal()) ?? false
const CALLERS = join(import.meta.dirname, 'temporal/callers.ts')
const APPROVE = join(import.meta.dirname, 'temporal/approve.yaml')
const QUEUE = 'skerry-workflow'
const FAR = '0 0 1 1 *'
const SOON_MS = 60_000

let lab: Lab
let cloud: LabCloud
let server: LabWorkflow
const stack = new AsyncDisposableStack()
before(async () => {
  if (skip !== false) return
  const { path } = stack.use(await mkdtempDisposable(join(tmpdir(), 'attack-temporal-')))
  lab = stack.use(await startLab({ dir: join(path, 'lab'), hosts: 0, cells: 1, workflows: 1 }))
  cloud = lab.cloud ?? assert.fail('the lab has a cloud')
  server = cloud.workflows[0] ?? assert.fail('the cloud has a workflow server')
  await untilWorking()
})
after(() => stack.disposeAsync())

const firstPort = () => Number(cloud.temporal.address.split(':').at(-1))

/** All calls at all ports, by another user of the machine with this certificate, another one or none. */
async function callAll(requested: Pick<Attack, 'shown' | 'only'>): Promise<readonly Attempt[]> {
  const ca = await readFile(join(lab.dir, 'temporal/certificates/clients.pem'), 'utf8')
  const attack: Attack = { port: firstPort(), ca, ...requested }
  const command = inNetworkNamed(lab.netns, [process.execPath, CALLERS, JSON.stringify(attack)])
  const [program = '', ...words] = command
  const { stdout } = await run(program, words, { maxBuffer: 64 * 1024 * 1024 })
  const { uid, found } = JSON.parse(stdout) as { uid: number; found: Attempt[] }
  assert.equal(uid, 65_534)
  return found
}

test('another user of the machine gets no response at any Temporal port', { skip }, async (t) => {
  await using issuer = await startIssuer('stranger')
  const stranger = await issuer.issue('URI:skerry://lab/cell/cell-1', 'DNS:temporal.skerry')
  const found = await callAll({ shown: stranger })
  assert.ok(found.length > 1_000, `${found.length} calls`)
  assert.deepEqual(
    found.filter(({ answered }) => answered),
    [],
  )
  t.diagnostic(`${found.length} calls and greetings, none answered`)
})

test(
  'a holder of a cell’s certificate gets responses from the first port, and from none of the internal ports',
  { skip },
  async () => {
    const pem = await readFile(join(lab.dir, 'cell-1/identity/cell.pem'), 'utf8')
    // Not all of them: some of them do not handle an empty request of an authorised caller.
    const only = ['getSystemInfo', 'getClusterInfo', 'listNamespaces', 'listSearchAttributes']
    const found = await callAll({ shown: splitBundle(pem), only })
    const answered = found.filter((each) => each.answered)
    assert.deepEqual(new Set(answered.map(({ name }) => name)), new Set(only))
    assert.deepEqual(new Set(answered.map(({ port }) => port)), new Set([firstPort()]))
  },
)

test(
  'Temporal listens at its own ports on loopback alone, and no one else reads its settings and key',
  { skip },
  async () => {
    const [program = '', ...words] = inNetworkNamed(lab.netns, ['ss', '-Htlnp'])
    const { stdout } = await run(program, words)
    const mark = `pid=${cloud.temporal.pid},`
    const listens = stdout.split('\n').filter((line) => line.includes(mark))
    const places = listens.map((line) => line.trim().split(/\s+/)[3] ?? '')
    const expected = Array.from(
      { length: temporalPorts },
      (_, at) => `127.0.0.1:${firstPort() + at}`,
    )
    assert.deepEqual(places.toSorted(), expected.toSorted())
    for (const file of ['temporal.yaml', 'certificates/temporal.key']) {
      const { mode } = await stat(join(lab.dir, 'temporal', file))
      assert.equal(mode & 0o077, 0, file)
    }
  },
)

/** The API, as the tenant's user. */
function asTenant() {
  const curl = curlWith(cloud.ca)
  const { user, org, password } = cloud.tenants[0] ?? assert.fail('the cloud has a tenant')
  const own = ['-u', `${user}@${org}:${password}`, ...JSON_ASKED]
  const url = (path: string) => (path.startsWith('https:') ? path : `${server.url}${path}`)
  return async (method: string, path: string, ...more: string[]): Promise<unknown> => {
    const said = await curl(...own, '-X', method, ...more, url(path))
    assert.ok(said.status < 300, `${method} ${path}: ${said.status} ${said.text}`)
    const document = said.text === '' ? {} : (JSON.parse(said.text) as object)
    return { ...document, location: said.headers['location'] }
  }
}
const body = (value: unknown): string[] => [
  '-H',
  'Content-Type: application/json',
  '-d',
  JSON.stringify(value),
]

interface Forger {
  readonly plain: TemporalClient
  readonly sealed: TemporalClient
}

/** Both hold a certificate; one has the key of the workflow server too. */
async function openForgers(opened: AsyncDisposableStack): Promise<Forger> {
  const { temporal, identity } = JSON.parse(await readFile(server.config, 'utf8')) as {
    readonly temporal: { readonly namespace: string }
    readonly identity: string
  }
  const { address, tls } = cloud.temporal
  const way = { address, namespace: temporal.namespace, tls, callTimeoutMs: 20_000 }
  const key = Buffer.from(await readFile(join(identity, 'seal.key'), 'utf8'), 'base64')
  const random = (bytes: number) => randomBytes(bytes)
  const dataConverter = sealedConverter({ keys: [{ id: '1', key }], random })
  return {
    plain: opened.use(connectTemporal(way)),
    sealed: opened.use(connectTemporal({ ...way, dataConverter })),
  }
}

/** Triggers a schedule; returns the id of the run. */
const startSchedule = (temporal: TemporalClient, schedule: string): Promise<string> =>
  temporal.within(async (client) => {
    const workflowId = `forged-${randomUUID()}`
    const options = { taskQueue: QUEUE, workflowId, args: [schedule] }
    await client.workflow.start('runScheduled', options)
    return workflowId
  })

const endOf = (temporal: TemporalClient, workflowId: string): Promise<unknown> =>
  temporal.within((client) => client.workflow.getHandle(workflowId).result(), SOON_MS)

/**
 * A new worker creates its namespace first, and each service of Temporal learns of it later: a run of a schedule that never
 * existed ends.
 */
async function untilWorking(): Promise<void> {
  await using opened = new AsyncDisposableStack()
  const { sealed } = await openForgers(opened)
  const ends = async () => {
    await endOf(sealed, await startSchedule(sealed, randomUUID()))
    return true
  }
  await until('the worker accepts runs', () => ends().catch(() => undefined), 4 * SOON_MS)
}

test(
  'unsealed values of a certificate holder start nothing and answer nothing',
  { skip },
  async () => {
    await using opened = new AsyncDisposableStack()
    const { plain, sealed } = await openForgers(opened)
    const ask = asTenant()
    const { id } = (await ask('POST', '/api/workflows', '-F', `file=@${APPROVE}`)) as { id: string }
    const runs = `/api/workflows/${id}/executions`
    const { location = '' } = (await ask(
      'POST',
      runs,
      ...body({}),
      '-H',
      'Idempotency-Key: once',
    )) as { location?: string }
    const started = location === '' ? assert.fail('a run has an address') : location
    const requested = await until(
      'the run asks',
      async () => {
        const { interaction } = await asksOf(ask, started)
        return interaction
      },
      SOON_MS,
    )
    const run = /executions\/([0-9a-f-]{36})/.exec(started)?.[1] ?? ''
    await plain.within((client) =>
      client.workflow.getHandle(`run/${run}`).signal('event', {
        id: requested,
        type: 'skerry.interaction',
        source: 'skerry',
        subject: 'administrator',
        data: { goOn: true },
      }),
    )
    const times = { workflow: id, name: 'yearly', cron: FAR }
    const { id: schedule } = (await ask('POST', '/api/schedules', ...body(times))) as { id: string }
    const forged = endOf(sealed, await startSchedule(plain, schedule))
    await assert.rejects(forged, { name: 'WorkflowFailedError' })
    // The run receives the answer of a user, which is the opposite.
    await ask('POST', `${started}interaction/`, ...body({ input: { goOn: false } }))
    const ended = await until(
      'the run ends',
      async () => {
        const said = (await ask('GET', started)) as { state: string }
        return said.state === 'completed' ? JSON.stringify(said) : undefined
      },
      SOON_MS,
    )
    assert.match(ended, /"agreed".*false/)
    assert.equal(await runsOf(ask, id), 1)
    await ask('DELETE', `/api/schedules/${schedule}`)
  },
)

test('a paused schedule that is triggered manually does not run', { skip }, async () => {
  await using opened = new AsyncDisposableStack()
  const { sealed } = await openForgers(opened)
  const ask = asTenant()
  const { id } = (await ask(
    ...(['POST', '/api/workflows?overwrite=true', '-F', `file=@${APPROVE}`] as const),
  )) as { id: string }
  const before = await runsOf(ask, id)
  const times = { workflow: id, name: 'paused', cron: FAR, paused: true }
  const { id: schedule } = (await ask('POST', '/api/schedules', ...body(times))) as { id: string }
  await endOf(sealed, await startSchedule(sealed, schedule))
  assert.equal(await runsOf(ask, id), before)
  // The same, once it is resumed, runs: the test would have seen it.
  await ask('POST', `/api/schedules/${schedule}/action/resume`)
  await startSchedule(sealed, schedule)
  await until(
    'the resumed schedule runs',
    async () => (await runsOf(ask, id)) === before + 1,
    SOON_MS,
  )
  await ask('DELETE', `/api/schedules/${schedule}`)
})

type AskApi = ReturnType<typeof asTenant>

async function asksOf(ask: AskApi, location: string): Promise<{ readonly interaction?: string }> {
  const said = (await ask('GET', location)) as { state: string }
  if (said.state !== 'waiting-signal') return {}
  const { id } = (await ask('GET', `${location}interaction/`)) as { id: string }
  return { interaction: id }
}

async function runsOf(ask: AskApi, workflow: string): Promise<number> {
  const said = (await ask('GET', `/api/workflows/${workflow}/executions`)) as {
    readonly relations: { readonly link: readonly unknown[] }
  }
  return said.relations.link.filter((link) => JSON.stringify(link).includes('executions/')).length
}
