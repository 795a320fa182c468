// Goal: every caller gets a response in the requested format, and never data of others.
// Method: every route, with every kind of credential, in every format.
import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { connect } from 'node:net'
import { after, before, test } from 'node:test'

import { children, readXml, text } from '@skerry/xml'

import { offersOf, type WorkflowRoute } from '../src/http/route.ts'
import { may, rights, type WorkflowRole, type WorkflowPrincipal } from '../src/identity/rights.ts'
import { routes } from '../src/routes.ts'
import {
  authorization,
  filled,
  openWorkflowApi,
  readAnswer,
  readJson,
  type Answered,
  type WorkflowApi,
} from './workflow-api.ts'
import { someone } from './workflow-database.ts'

let api: WorkflowApi
before(async () => {
  api = await openWorkflowApi()
})
after(() => api[Symbol.asyncDispose]())

const guarded = routes.filter(({ permission }) => permission !== 'anyone')
const formats = { xml: 'application/xml', json: 'application/json', none: undefined } as const
type Asked = keyof typeof formats

/** The content of an error, independent of its format. */
function toldIn(format: Asked, answer: Answered): Record<string, unknown> {
  if (format === 'json') return readJson(answer, answer.status)
  const root = readAnswer(answer, answer.status)
  return Object.fromEntries(children(root).map((each) => [each.name, text(each)]))
}

const askRow = (
  row: WorkflowRoute,
  as: WorkflowPrincipal | undefined,
  accept?: string,
  ids = api.eng.ids,
) => api.ask(row.method, filled(row.path, ids), { as, accept })

test('missing, wrong, foreign and disabled credentials give 401 in the requested format on every route', async () => {
  const gone = api.enter('eng', 'author')
  api.cloud.disable(gone)
  const known = api.eng.principal
  const headers: Readonly<Record<string, string | undefined>> = {
    none: undefined,
    wrong: authorization(known, 'other'),
    foreign: authorization({ ...known, orgName: 'ops' }),
    stranger: authorization(someone('eng')),
    disabled: authorization(gone),
    empty: 'Basic',
    'no basic': 'Bearer abc',
    'no base64': 'Basic %%%',
    'no organisation': `Basic ${Buffer.from('alice:secret').toString('base64')}`,
    'control character': `Basic ${Buffer.from('al\0ice@eng:secret').toString('base64')}`,
  }
  let tried = 0
  for (const row of guarded) {
    for (const [name, value] of Object.entries(headers)) {
      for (const [format, accept] of Object.entries(formats)) {
        const answer = await api.ask(row.method, filled(row.path, api.eng.ids), {
          accept,
          headers: value === undefined ? {} : { authorization: value },
        })
        assert.equal(answer.status, 401, `${row.name} with ${name}: ${answer.text}`)
        assert.equal(toldIn(format as Asked, answer)['code'], 'unauthenticated')
        assert.match(String(answer.headers['www-authenticate']), /^Basic realm="/)
        tried += 1
      }
    }
  }
  assert.ok(tried >= 900, `${tried}`)
})

test('every route enforces the rights of each role and names the missing right', async () => {
  for (const role of Object.keys(rights) as WorkflowRole[]) {
    const principal = api.enter('eng', role)
    for (const row of guarded) {
      if (may(principal, row.permission)) continue
      for (const [format, accept] of Object.entries(formats)) {
        const answer = await askRow(
          row,
          principal,
          offersOf(row).includes('xml') ? accept : undefined,
        )
        assert.equal(answer.status, 403, `${row.name} as ${role}: ${answer.text}`)
        if (!offersOf(row).includes('xml')) continue
        const { message } = toldIn(format as Asked, answer)
        assert.match(String(message), new RegExp(`${role} lacks the right ${row.permission}`))
      }
    }
  }
})

test('a resource of another organisation and a missing one give byte-identical responses', async () => {
  const unknown = Object.fromEntries(Object.keys(api.eng.ids).map((name) => [name, randomUUID()]))
  const named = guarded.filter(({ path }) => path.includes(':'))
  assert.ok(named.length >= 20)
  for (const role of ['console only', 'user', 'author', 'organisation administrator'] as const) {
    const principal = api.enter('eng', role)
    for (const row of named) {
      for (const accept of Object.values(formats)) {
        if (accept !== undefined && !offersOf(row).includes('xml')) continue
        const [foreign, none, odd] = [
          await askRow(row, principal, accept, api.ops.ids),
          await askRow(row, principal, accept, unknown),
          await askRow(
            row,
            principal,
            accept,
            Object.fromEntries(Object.keys(unknown).map((n) => [n, 'x'])),
          ),
        ]
        assert.equal(foreign.status, 404, `${row.name}: ${foreign.text}`)
        const seen = ({ status, text: said, headers }: Answered) => {
          const { date: _, 'x-request-id': __, ...rest } = headers
          return { status, said, rest }
        }
        assert.deepEqual(seen(foreign), seen(none), row.name)
        assert.deepEqual(seen(odd), seen(none), row.name)
      }
    }
  }
})

test('a system administrator has access to all organisations', async () => {
  const root = api.enter('System', 'system administrator')
  for (const row of guarded.filter(({ method, path }) => method === 'GET' && path.includes(':'))) {
    if (row.name === 'readInteraction' || row.name === 'followExecution') continue
    const answer = await askRow(row, root, undefined, api.ops.ids)
    assert.equal(answer.status, 200, `${row.name}: ${answer.text}`)
  }
})

test('an execution is found only under its own workflow', async () => {
  const { ids } = api.eng
  const other = await api.ask(
    'GET',
    `/api/workflows/${ids['workflow']}/executions/${randomUUID()}`,
    {
      as: api.eng.principal,
    },
  )
  assert.equal(other.status, 404)
})

test('a GET returns every format that its route offers, XML by default, and no other', async () => {
  for (const row of guarded.filter(({ method }) => method === 'GET')) {
    if (['readInteraction', 'followExecution'].includes(row.name)) continue
    const get = (accept?: string) => askRow(row, api.eng.principal, accept)
    const offers = offersOf(row)
    if (offers.includes('xml')) {
      readAnswer(await get())
      readAnswer(await get('*/*'))
      readAnswer(await get('text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'))
      readAnswer(await get('application/json;q=0.5, text/xml'))
      readJson(await get('application/json'))
      readJson(await get('application/xml;q=0.1, application/json'))
    }
    const none = await get('audio/ogg')
    assert.equal(none.status, 406, row.name)
    assert.equal(toldIn('none', none)['code'], 'not-acceptable')
  }
})

test('the alternative base path is an alias', async () => {
  const [ours, theirs] = [
    await api.ask('GET', '/api/about', { as: api.eng.principal }),
    await api.ask('GET', '/vco/api/about/', { as: api.eng.principal }),
  ]
  assert.equal(ours.text, theirs.text)
  assert.match(ours.text, /api-version>5\.1</)
  for (const path of ['/vco/apis', '/vco', '/api/nothing', '/vco/api/../../etc']) {
    assert.equal((await api.ask('GET', path, { as: api.eng.principal })).status, 404, path)
  }
})

test('a wrong method gives 405 with Allow, and an unknown path 404, in the requested format', async () => {
  for (const [format, accept] of Object.entries(formats)) {
    const wrong = await api.ask('PUT', '/api/workflows', { as: api.eng.principal, accept })
    assert.equal(wrong.status, 405)
    assert.equal(wrong.headers['allow'], 'GET, POST')
    assert.equal(toldIn(format as Asked, wrong)['code'], 'method-not-allowed')
    const nowhere = await api.ask('GET', '/api/nowhere', { accept })
    assert.equal(nowhere.status, 404)
    assert.equal(toldIn(format as Asked, nowhere)['code'], 'not-found')
  }
})

test('a body that is too large, not UTF-8 or invalid is rejected in the requested format', async () => {
  const { principal, ids } = api.eng
  const path = `/api/workflows/${ids['workflow']}/executions`
  for (const [format, accept] of Object.entries(formats)) {
    const post = (body: string | Buffer) => api.ask('POST', path, { as: principal, accept, body })
    const large = await post(Buffer.alloc(2 * 1024 * 1024, 'a'))
    assert.equal(large.status, 413)
    assert.equal(toldIn(format as Asked, large)['status'], format === 'json' ? 413 : '413')
    for (const body of [
      Buffer.from([0xff, 0xfe]),
      '<execution-context>',
      '<other/>',
      '{',
      '[]',
      '"x"',
      'text',
      '{"parameters":[{"value":{"string":{"value":"x"}}}]}',
      '{"colour":1}',
      '{"parameters":[{"name":"name","type":"string","value":{"text":{"value":"x"}}}]}',
      '{"parameters":[{"name":"name","value":{"string":{"value":"x"}}},{"name":"name","value":{"string":{"value":"x"}}}]}',
      '<!DOCTYPE a [<!ENTITY b "c">]><execution-context/>',
      `{"input":${'{"a":'.repeat(2000)}1${'}'.repeat(2000)}}`,
    ]) {
      const answer = await post(body)
      assert.equal(answer.status, 400, `${body.toString()}: ${answer.text}`)
      assert.equal(toldIn(format as Asked, answer)['code'], 'invalid')
    }
  }
})

test('the body of an unauthenticated request is not read', async () => {
  const answer = await api
    .ask('POST', '/api/workflows', {
      headers: { 'content-length': String(1024 ** 3), connection: 'close' },
    })
    .catch((error: Error) => error)
  // A client that announces a gigabyte and sends nothing gets a response at once, or is disconnected.
  assert.ok(answer instanceof Error || answer.status === 401)
})

test('input that is not HTTP gets an error, and odd requests do no harm', async () => {
  const raw = async (bytes: string): Promise<string> => {
    const socket = connect(api.port, '127.0.0.1')
    let said = ''
    socket.setEncoding('utf8').on('data', (part: string) => (said += part))
    socket.end(bytes)
    await new Promise((done) => socket.on('close', done))
    return said
  }
  assert.match(await raw('nonsense\r\n\r\n'), /^HTTP\/1\.1 400 /)
  assert.match(
    await raw(`GET /${'a'.repeat(40_000)} HTTP/1.1\r\nhost: x\r\n\r\n`),
    /^HTTP\/1\.1 4(00|31|14) /,
  )
  assert.match(
    await raw('GET /%zz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n'),
    /^HTTP\/1\.1 4/,
  )
})

test('five hundred malformed queries and headers get a response, none an internal error', async () => {
  const { principal, ids } = api.eng
  const names = [
    'conditions',
    'maxResult',
    'startIndex',
    'sortOrders',
    'keys',
    'tags',
    'queryCount',
    'x',
  ]
  for (let at = 0; at < 500; at++) {
    const name = names[at % names.length] ?? ''
    const value = randomBytes(at % 23).toString(at % 2 ? 'latin1' : 'base64')
    const query = `${encodeURIComponent(name)}=${encodeURIComponent(value)}`
    const path =
      at % 3 ? `/api/workflows?${query}` : `/api/workflows/${ids['workflow']}/executions?${query}`
    const accept = at % 5 ? 'application/json' : value.replaceAll(/[^\x20-\x7e]/g, '?')
    const { status } = await api.ask('GET', path, { as: principal, accept })
    assert.ok(status < 500, `${path} ${status}`)
  }
})

test('health needs no credentials and returns nothing else', async () => {
  const { text: said, status } = await api.ask('GET', '/health', { accept: 'application/json' })
  assert.deepEqual([status, JSON.parse(said)], [200, { ready: true }])
})

test('every route has a description, a unique name and a response', () => {
  assert.equal(new Set(routes.map(({ name }) => name)).size, routes.length)
  const where = routes.map(({ method, path }) => `${method} ${path}`)
  assert.equal(new Set(where).size, routes.length)
  for (const { doc, name } of routes) assert.match(doc, /\.$/, name)
  assert.ok(readXml('<a/>'))
})
