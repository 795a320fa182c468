// Goal: the tenant API survives any input, responds with an error document that blames the request, and leaks no memory; no document
// makes it read other resources. Method: a server in its own process with a small heap; 1,000 requests per kind of route, each a valid
// one made malformed, from a seed that is printed; as many bodies in JSON; then 300 documents with entities of their own.
import assert from 'node:assert/strict'
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'

import { until } from '@skerry/lab'

import type { CloudRoute } from '../src/http/route.ts'
import { routes } from '../src/routes.ts'
import type { Opened, Told } from './api-process.ts'
import { entityBodies } from './entity-bodies.ts'
import { holdToSchema } from './held-to-schema.ts'
import { asJson, jsonOf } from './json-documents.ts'
import { brokenJson } from './malformed-json.ts'
import { chanceOf, pick } from './malformed-xml.ts'
import { malform, written, type Malformed } from './malformed.ts'
import { RawLine, type RawAnswer } from './raw-line.ts'
import { bodyOf, kindOf, rightful } from './rightful.ts'
import { XML } from './tenants-api.ts'

const EACH = Number(process.env['SKERRY_MALFORMED'] ?? 1000)
const SEED = Number(process.env['SKERRY_SEED'] ?? 20_261_115)
const ENTITY_BODIES = 300
const LINES = 6
const BATCH = 30
const MIB = 1024 * 1024
/** A tenth of the volume that it sends: the rest is Node, its heap, and the memory of the PostgreSQL driver. */
const GROWTH_MAX = 64 * MIB
const HEAP_MIB = 192

let child: ChildProcess
let opened: Opened

const messageOf = async <Is extends Told['is']>(is: Is): Promise<Extract<Told, { is: Is }>> => {
  for (;;) {
    const [said] = (await once(child, 'message')) as [Told]
    if (said.is === is) return said as Extract<Told, { is: Is }>
  }
}

before(async () => {
  child = fork(join(import.meta.dirname, 'api-process.ts'), {
    execArgv: [`--max-old-space-size=${HEAP_MIB}`],
  })
  ;({ opened } = await messageOf('open'))
})
after(() => child?.disconnect())

async function setRight(): Promise<void> {
  const done = messageOf('right')
  child.send('set right')
  await done
}

async function memory(): Promise<number> {
  const status = await readFile(`/proc/${child.pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024
}

/** Statuses that do not blame the request. */
const broken: string[] = []

/** Responses with a document are validated against the schema with all others of this file. */
function hold({ bytes, method }: Malformed, { status, headers, text }: RawAnswer): void {
  const requested = bytes.slice(0, 300)
  if (status >= 500) broken.push(`${status} ${text} for ${bytes.slice(0, 1500)}`)
  if (text === '' || method === 'HEAD') return
  // The requested version may be malformed too; other tests check the version of the response.
  holdToSchema({ requested, accept: undefined, status, type: headers.get('content-type'), text })
}

/** Reached our own code: not rejected before, nor for a missing path, version or token. */
const isMet = ({ status, text }: RawAnswer): boolean =>
  status !== 0 &&
  ![401, 404, 406, 408, 417, 431].includes(status) &&
  !/is not HTTP|cannot be read/.test(text)

async function sendAll(
  requests: readonly Malformed[],
  take: (request: Malformed, answer: RawAnswer) => void,
): Promise<void> {
  const lines = Array.from({ length: LINES }, () => new RawLine(opened.port))
  for (let from = 0; from < requests.length; from += BATCH) {
    await setRight()
    const batch = requests.slice(from, from + BATCH)
    await Promise.all(
      lines.map(async (line, at) => {
        for (let n = at; n < batch.length; n += LINES) {
          const request = batch[n] as Malformed
          const answer = await line.ask(request)
          hold(request, answer)
          take(request, answer)
        }
      }),
    )
  }
  for (const line of lines) line.close()
}

const byKind = Map.groupBy(routes, kindOf)

test('there is a route of every kind', () => {
  const kinds = ['read', 'action', 'create', 'delete', 'upload', 'query', 'login', 'admin']
  for (const kind of kinds) assert.ok(byKind.has(kind), kind)
})

test('invalid HTTP, URLs, UTF-8 or characters get an error document that says so', async () => {
  await setRight()
  const row = (name: string) => {
    const found = routes.find((each) => each.name === name) as CloudRoute
    return rightful(found, opened, 'x')
  }
  const [read, query, create] = [row('readSession'), row('runQuery'), row('addAccessToken')]
  const nul = Buffer.from('al\u0000ice@eng:secret').toString('base64')
  const at = (path: string) => ({ ...read, path })
  const metadata = row('writeMetadataValue')
  const cases: readonly (readonly [number, Malformed])[] = [
    [400, { ...written(read), bytes: 'GARBAGE\r\n\r\n', needsOwnConnection: true }],
    [431, written({ ...read, headers: [...read.headers, ['X-Long', 'y'.repeat(20_000)]] })],
    [400, written(at('/api/org/%zz'))],
    [400, written(at(`/api/org/${'x'.repeat(2000)}`))],
    [400, written({ ...query, path: '/api/query?type=%00' })],
    [400, written({ ...create, body: create.body.replace('"x"', '"\u00ff"') })],
    [400, written({ ...create, path: `${create.path}?operationKey=%00` })],
    [400, written({ ...metadata, path: metadata.path.replace('colour', '%ef%bf%be') })],
    ...['GET', 'DELETE'].map((method) => {
      const path = metadata.path.replace('colour', 'c%00lour')
      return [400, written({ ...metadata, method, path, body: '' })] as const
    }),
    [
      401,
      written({
        ...row('createSession'),
        headers: [
          ['Host', 'x'],
          ['Accept', XML],
          ['Authorization', `Basic ${nul}`],
        ],
      }),
    ],
  ]
  for (const [expected, request] of cases) {
    const line = new RawLine(opened.port)
    const answer = await line.ask(request)
    line.close()
    hold(request, answer)
    const requested = request.bytes.slice(0, 200)
    assert.equal(answer.status, expected, `${answer.text} for ${requested}`)
    assert.match(answer.text, new RegExp(`<Error .*majorErrorCode="${expected}"`), requested)
  }
  assert.deepEqual(broken, [])
})

test(`${EACH} malformed requests per kind of route: no crash, no internal error, every document valid`, async (t) => {
  const chance = chanceOf(SEED)
  const make = (kind: string, of: readonly CloudRoute[], n: number) =>
    malform(rightful(pick(of, chance), opened, `n-${n}`), kind, chance)
  // The first thousand requests allocate memory that remains: code, plans, connections.
  await sendAll(
    Array.from({ length: 300 }, (_, n) => make('action', routes, n)),
    () => undefined,
  )
  const first = await memory()
  let most = first
  const { pid } = child
  for (const [kind, of] of byKind) {
    const statuses: Record<string, number> = {}
    let met = 0
    const began = performance.now()
    const requests = Array.from({ length: EACH }, (_, n) => make(kind, of, n))
    await sendAll(requests, (_request, answer) => {
      statuses[answer.status] = (statuses[answer.status] ?? 0) + 1
      if (isMet(answer)) met += 1
    })
    most = Math.max(most, await memory())
    t.diagnostic(
      `seed ${SEED}, ${kind}: ${JSON.stringify(statuses)}, ${met} met the code of their row, ${((performance.now() - began) / 1000).toFixed(1)} s`,
    )
    if (kind !== 'login') assert.ok(met > EACH / 5, `${kind}: ${met} of ${EACH}`)
  }
  assert.deepEqual(broken.slice(0, 20), [], `${broken.length}`)
  assert.equal(child.exitCode, null)
  assert.equal(child.pid, pid)
  const [line] = [new RawLine(opened.port)]
  await setRight()
  const session = routes.find(({ name }) => name === 'readSession') as CloudRoute
  assert.equal((await line.ask(written(rightful(session, opened, '')))).status, 200)
  line.close()
  const grown = await until(
    'memory is released',
    async () => (await memory()) - first < GROWTH_MAX && { by: (await memory()) - first },
    30_000,
  )
  t.diagnostic(
    `memory: ${mib(first)}, at most ${mib(most)}, after it ${mib(grown.by)} more than before`,
  )
})

test(`${EACH} malformed bodies in JSON: no crash, no internal error, every error is a document in JSON`, async (t) => {
  const chance = chanceOf(SEED)
  const taking = routes.filter(({ takes }) => typeof takes?.shape === 'string' && !takes.open)
  const requests = Array.from({ length: EACH }, (_, n) => {
    const route = pick(taking, chance)
    const draft = rightful(route, opened, `j-${n}`)
    const whole = Buffer.from(jsonOf(bodyOf(route, opened, `j-${n}`))).toString('latin1')
    const other: Readonly<Record<string, string>> = {
      Accept: asJson(XML),
      'Content-Type': 'application/json',
    }
    const headers = draft.headers.map(([name, value]): [string, string] => [
      name,
      other[name] ?? value,
    ])
    return written({ ...draft, headers, body: brokenJson(whole, chance) })
  })
  const statuses: Record<string, number> = {}
  await sendAll(requests, ({ bytes }, { status, headers, text }) => {
    statuses[status] = (statuses[status] ?? 0) + 1
    const requested = bytes.slice(0, 500)
    assert.match(headers.get('content-type') ?? '', /\+json;version=5\.1$/, requested)
    if (status >= 400) assert.match(text, /^\{"majorErrorCode":4\d\d,/, requested)
  })
  t.diagnostic(`seed ${SEED}: ${JSON.stringify(statuses)}`)
  assert.deepEqual(broken.slice(0, 20), [], `${broken.length}`)
  assert.ok((statuses[400] ?? 0) > EACH / 2, JSON.stringify(statuses))
})

test(`${ENTITY_BODIES} documents with a DOCTYPE or entities: all 400, nothing is read, nothing is contacted`, async (t) => {
  const dir = await mkdtemp(join(tmpdir(), 'skerry-lure-'))
  await using stack = new AsyncDisposableStack()
  stack.defer(() => rm(dir, { recursive: true, force: true }))
  const [file, twin] = [join(dir, 'lure'), join(dir, 'twin')]
  const canary = 'canary-that-nobody-reads'
  const long = new Date(Date.now() - 86_400_000)
  for (const each of [file, twin]) {
    await writeFile(each, canary)
    await utimes(each, long, long)
  }
  let requested = 0
  const listener = createServer((socket) => {
    requested += 1
    socket.destroy()
  })
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  stack.defer(() => void listener.close())
  const url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`
  const taking = routes.filter(({ takes }) => typeof takes?.shape === 'string')
  const requests: Malformed[] = []
  for (let n = 0; requests.length < ENTITY_BODIES; n += 1) {
    const route = taking[n % taking.length] as CloudRoute
    const all = [...entityBodies(bodyOf(route, opened, 'x'), { file, url }, n)]
    // Each route gets other tricks, and all routes together get all of them.
    const some = all.filter((_, at) => at % 5 === n % 5)
    for (const body of some) requests.push(written({ ...rightful(route, opened, 'x'), body }))
  }
  let slowest = 0
  const statuses: Record<string, number> = {}
  const line = new RawLine(opened.port)
  for (const request of requests.slice(0, ENTITY_BODIES)) {
    if (requests.indexOf(request) % BATCH === 0) await setRight()
    const began = performance.now()
    const answer = await line.ask(request)
    slowest = Math.max(slowest, performance.now() - began)
    hold(request, answer)
    statuses[answer.status] = (statuses[answer.status] ?? 0) + 1
    assert.equal(answer.status, 400, `${answer.text} for ${request.bytes.slice(0, 800)}`)
    assert.ok(!answer.text.includes(canary), answer.text)
  }
  line.close()
  t.diagnostic(`${JSON.stringify(statuses)}; the slowest took ${slowest.toFixed(0)} ms`)
  assert.deepEqual(statuses, { 400: ENTITY_BODIES })
  assert.equal(requested, 0)
  // Where the file system records access times, this file was not read.
  await readFile(twin)
  if ((await stat(twin)).atimeMs > long.getTime() + 1000) {
    assert.ok((await stat(file)).atimeMs <= long.getTime() + 1000, 'the file was read')
  }
})

test('none of these requests caused an internal error', async () => {
  const closed = messageOf('closed')
  child.send('close')
  assert.equal((await closed).mistakes, '')
})

const mib = (bytes: number): string => `${(bytes / MIB).toFixed(0)} MiB`
