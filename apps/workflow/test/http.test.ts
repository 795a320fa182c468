// Goal: whoever asks gets an answer in the asked format, and nobody gets what is not theirs.
// Method: every row of the table of routes, with every kind of credential, in every format.
import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { connect } from 'node:net'
import { after, before, test } from 'node:test'

import { children, readXml, text } from '@skerry/xml'

import { may, rights, type Role, type Who } from '../src/identity/rights.ts'
import { offersOf, type WorkflowRoute } from '../src/route.ts'
import { routes } from '../src/routes.ts'
import {
  authorization,
  filled,
  openDoor,
  readAnswer,
  readJson,
  type Answered,
  type Door,
} from './door.ts'
import { someone } from './workflow-database.ts'

let door: Door
before(async () => {
  door = await openDoor()
})
after(() => door[Symbol.asyncDispose]())

const guarded = routes.filter(({ permission }) => permission !== 'anyone')
const formats = { xml: 'application/xml', json: 'application/json', none: undefined } as const
type Asked = keyof typeof formats

/** What a refusal says, whichever format it was asked in. */
function toldIn(format: Asked, answer: Answered): Record<string, unknown> {
  if (format === 'json') return readJson(answer, answer.status)
  const root = readAnswer(answer, answer.status)
  return Object.fromEntries(children(root).map((each) => [each.name, text(each)]))
}

const askRow = (row: WorkflowRoute, as: Who | undefined, accept?: string, ids = door.eng.ids) =>
  door.ask(row.method, filled(row.path, ids), { as, accept })

test('no, wrong, foreign and disabled credentials are 401 in the asked format on every route', async () => {
  const gone = door.enter('eng', 'author')
  door.cloud.disable(gone)
  const known = door.eng.who
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
        const answer = await door.ask(row.method, filled(row.path, door.eng.ids), {
          ...{ accept, headers: value === undefined ? {} : { authorization: value } },
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

test('each role may do what its rights say, on every route, and is told which it lacks', async () => {
  for (const role of Object.keys(rights) as Role[]) {
    const who = door.enter('eng', role)
    for (const row of guarded) {
      if (may(who, row.permission)) continue
      for (const [format, accept] of Object.entries(formats)) {
        const answer = await askRow(row, who, offersOf(row).includes('xml') ? accept : undefined)
        assert.equal(answer.status, 403, `${row.name} as ${role}: ${answer.text}`)
        if (!offersOf(row).includes('xml')) continue
        const { message } = toldIn(format as Asked, answer)
        assert.match(String(message), new RegExp(`${role} lacks the right ${row.permission}`))
      }
    }
  }
})

test('what is another organisation’s is told of byte for byte as what never was', async () => {
  const unknown = Object.fromEntries(Object.keys(door.eng.ids).map((name) => [name, randomUUID()]))
  const named = guarded.filter(({ path }) => path.includes(':'))
  assert.ok(named.length >= 20)
  for (const role of ['console only', 'user', 'author', 'organisation administrator'] as const) {
    const who = door.enter('eng', role)
    for (const row of named) {
      for (const accept of Object.values(formats)) {
        if (accept !== undefined && !offersOf(row).includes('xml')) continue
        const [foreign, none, odd] = [
          await askRow(row, who, accept, door.ops.ids),
          await askRow(row, who, accept, unknown),
          await askRow(
            row,
            who,
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

test('a system administrator reaches what is of any organisation', async () => {
  const root = door.enter('System', 'system administrator')
  for (const row of guarded.filter(({ method, path }) => method === 'GET' && path.includes(':'))) {
    if (row.name === 'readInteraction' || row.name === 'followExecution') continue
    const answer = await askRow(row, root, undefined, door.ops.ids)
    assert.equal(answer.status, 200, `${row.name}: ${answer.text}`)
  }
})

test('an execution of another workflow is not below this one', async () => {
  const { ids } = door.eng
  const other = await door.ask(
    'GET',
    `/api/workflows/${ids['workflow']}/executions/${randomUUID()}`,
    {
      as: door.eng.who,
    },
  )
  assert.equal(other.status, 404)
})

test('what is read comes in every format that its row offers, as XML unless told, and as nothing else', async () => {
  for (const row of guarded.filter(({ method }) => method === 'GET')) {
    if (['readInteraction', 'followExecution'].includes(row.name)) continue
    const get = (accept?: string) => askRow(row, door.eng.who, accept)
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

test('the other base path is the same address', async () => {
  const [ours, theirs] = [
    await door.ask('GET', '/api/about', { as: door.eng.who }),
    await door.ask('GET', '/vco/api/about/', { as: door.eng.who }),
  ]
  assert.equal(ours.text, theirs.text)
  assert.match(ours.text, /api-version>5\.1</)
  for (const path of ['/vco/apis', '/vco', '/api/nothing', '/vco/api/../../etc']) {
    assert.equal((await door.ask('GET', path, { as: door.eng.who })).status, 404, path)
  }
})

test('an address that takes other methods says which, and what is nowhere is nowhere, in the asked format', async () => {
  for (const [format, accept] of Object.entries(formats)) {
    const wrong = await door.ask('PUT', '/api/workflows', { as: door.eng.who, accept })
    assert.equal(wrong.status, 405)
    assert.equal(wrong.headers['allow'], 'GET, POST')
    assert.equal(toldIn(format as Asked, wrong)['code'], 'method-not-allowed')
    const nowhere = await door.ask('GET', '/api/nowhere', { accept })
    assert.equal(nowhere.status, 404)
    assert.equal(toldIn(format as Asked, nowhere)['code'], 'not-found')
  }
})

test('a body that is too large, no UTF-8 or not what is taken is refused in the asked format', async () => {
  const { who, ids } = door.eng
  const path = `/api/workflows/${ids['workflow']}/executions`
  for (const [format, accept] of Object.entries(formats)) {
    const post = (body: string | Buffer) => door.ask('POST', path, { as: who, accept, body })
    const large = await post(Buffer.alloc(2 * 1024 * 1024, 'a'))
    assert.equal(large.status, 413)
    assert.equal(toldIn(format as Asked, large)['status'], format === 'json' ? 413 : '413')
    for (const body of [
      ...[Buffer.from([0xff, 0xfe]), '<execution-context>', '<other/>', '{', '[]', '"x"', 'text'],
      ...['{"parameters":[{"value":{"string":{"value":"x"}}}]}', '{"colour":1}'],
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

test('a stranger’s body is not even read', async () => {
  const answer = await door
    .ask('POST', '/api/workflows', {
      headers: { 'content-length': String(1024 ** 3), connection: 'close' },
    })
    .catch((error: Error) => error)
  // Whoever announces a gigabyte and sends nothing is answered at once, or cut off.
  assert.ok(answer instanceof Error || answer.status === 401)
})

test('what is no HTTP is answered, and odd requests do no harm', async () => {
  const raw = async (bytes: string): Promise<string> => {
    const socket = connect(door.port, '127.0.0.1')
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

test('five hundred malformed queries and headers are answered, none by a mistake of ours', async () => {
  const { who, ids } = door.eng
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
    const { status } = await door.ask('GET', path, { as: who, accept })
    assert.ok(status < 500, `${path} ${status}`)
  }
})

test('health is answered to anybody, and says nothing else', async () => {
  const { text: said, status } = await door.ask('GET', '/health', { accept: 'application/json' })
  assert.deepEqual([status, JSON.parse(said)], [200, { ready: true }])
})

test('every row says what it does, has a name of its own and answers somewhere', () => {
  assert.equal(new Set(routes.map(({ name }) => name)).size, routes.length)
  const where = routes.map(({ method, path }) => `${method} ${path}`)
  assert.equal(new Set(where).size, routes.length)
  for (const { doc, name } of routes) assert.match(doc, /\.$/, name)
  assert.ok(readXml('<a/>'))
})
