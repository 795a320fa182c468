// Goal: nobody does or learns anything without a right to it: every address, with every kind of credential.
// Method: every row of the route table over HTTP, in each dialect. Who may is written down here once more, by hand: a row that asks for less fails.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { request } from 'node:http'
import { after, before, describe, test } from 'node:test'

import { sql } from 'kysely'

import { original, ours, type Dialect } from '../src/http/dialect.ts'
import { hashToken } from '../src/identity/sessions.ts'
import type { CloudRoute } from '../src/route.ts'
import { routes } from '../src/routes.ts'
import {
  acceptOf,
  everythingOf,
  idsFor,
  isOpen,
  pathOf,
  rowOf,
  tellingOf,
  unknown,
} from './every-route.ts'
import { ladder, rows } from './rights-table.ts'
import { instantiate, openDoor, type Answered, type Door, type Spoken } from './tenants-door.ts'

/** Each dialect has one of its own: to try everything uses things up. */
let door: Door

const dialects = [ours, original]
/** The listener that speaks it. */
const speaking = (dialect: Dialect): Spoken =>
  door.spoken.find((each) => each.dialect === dialect) ?? assert.fail(dialect.name)

/** The headers of an answer: of a stream, which goes on for ever, or of what is asked for by HEAD. */
function beginning(
  { port }: Spoken,
  path: string,
  headers: Readonly<Record<string, string>>,
  method = 'GET',
): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const to = { port, host: '127.0.0.1', method, path, headers }
    const sent = request(to, (response) => {
      const { statusCode: status = 0, headers: got } = response
      resolve({ status, headers: got, text: '' })
      response.destroy()
    })
    sent.on('error', reject)
    sent.end()
  })
}

async function tryIt(
  at: Spoken,
  route: CloudRoute,
  ids: Readonly<Record<string, string>>,
  token: string | undefined,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answered> {
  const { body, streams } = rowOf(route)
  const path = pathOf(route, ids)
  const version = acceptOf(route)
  const own = token === undefined ? {} : { [at.dialect.tokenHeader]: token }
  if (streams && token !== undefined && headers['cookie'] === undefined) {
    const plain = await at.ask('GET', '/api/session', { token })
    if (plain.status === 200) return beginning(at, path, { ...version, ...own })
  }
  const text = body?.(ids)
  return at.ask(route.method, path, {
    headers: { ...version, ...own, ...headers },
    ...(text !== undefined && { body: text }),
  })
}

test('every row of the route table has its line here, and every line its row', () => {
  assert.deepEqual(routes.map(({ name }) => name).toSorted(), Object.keys(rows).toSorted())
})

/** A token that was good until now. */
async function expired(began: string, seen: string): Promise<string> {
  const token = randomBytes(32).toString('base64url')
  await sql`insert into session (token_hash, org, account, began_at, seen_at)
    select ${hashToken(token)}, org, id, clock_timestamp() - ${began}::interval, clock_timestamp() - ${seen}::interval
    from account where org = ${door.eng.org} limit 1`.execute(door.cloud.db)
  return token
}

/** What is ours by every name that an address of this route takes. */
function oursFor({ path }: CloudRoute, dialect: Dialect): Readonly<Record<string, string>>[] {
  const { ids, vapp } = door.eng
  const uuidOf = (id = '') => id.slice(-36)
  const urn = (kind: string, id?: string) => dialect.urn(kind, uuidOf(id))
  const as = (name: string, ...all: string[]) => all.map((each) => ({ ...ids, [name]: each }))
  if (path.includes(':entity')) {
    const { entity = '' } = ids
    return as('entity', entity, vapp, urn('vm', entity), urn('vapp', vapp))
  }
  if (path.includes(':urn')) {
    const kinds = ['org', 'vdc', 'task', 'catalog', 'catalogItem']
    const plain = kinds.map((kind) => urn(kind, ids[kind]))
    const rest = [urn('vm', ids['entity']), urn('vapp', vapp), urn('vappTemplate', ids['template'])]
    return as('urn', ...plain, ...rest, ids['entity'] ?? '', vapp, ids['template'] ?? '')
  }
  if (path.includes(':template')) {
    const { template = '' } = ids
    return as('template', template, `vm-${uuidOf(template)}`)
  }
  if (path.includes(':task')) return as('task', ids['task'] ?? '', urn('task', ids['task']))
  return [ids]
}

for (const dialect of dialects)
  describe(dialect.name, () => {
    /** Of what is not there, or not theirs. */
    const away = dialect.refusals['not-found'].status
    before(async () => {
      door = await openDoor()
    })
    after(() => door[Symbol.asyncDispose]())

    test('no token, a bad one, one that is over, and the cookie alone: 401 at every address', async () => {
      const at = speaking(dialect)
      const tokens = [undefined, '', 'bad', 'skat_bad', await expired('1 h', '31 min')]
      tokens.push(await expired('25 h', '1 min'))
      const cookie = { cookie: `${dialect.cookie}=${door.eng.token}` }
      const strange = dialects.filter((each) => each !== dialect)
      const elsewhere = Object.fromEntries(
        strange.map(({ tokenHeader }) => [tokenHeader, door.eng.token]),
      )
      for (const route of routes.filter((each) => !isOpen(each))) {
        for (const token of tokens) {
          const { status } = await tryIt(at, route, door.eng.ids, token)
          assert.equal(status, 401, `${route.name} with ${token}`)
        }
        for (const headers of [cookie, elsewhere]) {
          const { status } = await tryIt(at, route, door.eng.ids, undefined, headers)
          assert.equal(status, 401, `${route.name} with ${Object.keys(headers).join()}`)
        }
        if (route.method !== 'GET') continue
        // The HTTP library answers HEAD wherever there is a GET: that is an address too.
        const path = pathOf(route, door.eng.ids)
        const { status } = await beginning(at, path, { ...acceptOf(route), ...cookie }, 'HEAD')
        assert.equal(status, 401, `HEAD of ${route.name}`)
      }
    })

    test('to the users of another organisation what is ours is what never was, and nothing of it changes', async () => {
      const at = speaking(dialect)
      const before = await everythingOf(door, door.eng.org)
      const uuids = Object.values(door.eng.ids).flatMap(
        (id) => /[0-9a-f-]{36}$/.exec(id)?.[0] ?? [],
      )
      for (const role of ladder.filter((each) => each !== 'system administrator')) {
        for (const route of routes.filter((each) => !isOpen(each))) {
          const what = `${role} of another organisation: ${route.name}`
          const token = await door.enter(door.ops.org, role)
          if (!route.path.includes(':')) {
            const { text } = await tryIt(at, route, door.eng.ids, token)
            for (const uuid of uuids) assert.ok(!text.includes(uuid), `${what}: ${text}`)
            continue
          }
          const nobodys = await tryIt(at, route, unknown, token)
          assert.equal(nobodys.status, away, what)
          for (const ids of oursFor(route, dialect)) {
            const theirs = await tryIt(at, route, ids, token)
            assert.deepEqual(
              tellingOf(theirs),
              tellingOf(nobodys),
              `${what} ${JSON.stringify(ids)}`,
            )
          }
          if (route.method !== 'GET') continue
          const headers = { ...acceptOf(route), [dialect.tokenHeader]: token }
          const head = (ids: Readonly<Record<string, string>>) =>
            beginning(at, pathOf(route, ids), headers, 'HEAD')
          assert.deepEqual(
            tellingOf(await head(door.eng.ids)),
            tellingOf(await head(unknown)),
            what,
          )
        }
      }
      assert.equal(await everythingOf(door, door.eng.org), before)
    })

    test('to a colleague, and to any administrator, a token for scripts is what never was', async () => {
      const at = speaking(dialect)
      for (const role of ladder) {
        const token = await door.enter(door.eng.org, role)
        for (const route of routes.filter(({ path }) => path.includes(':accessToken'))) {
          const theirs = await tryIt(at, route, door.eng.ids, token)
          assert.equal(theirs.status, away, `${role}: ${route.name}`)
          assert.deepEqual(
            tellingOf(theirs),
            tellingOf(await tryIt(at, route, unknown, token)),
            role,
          )
        }
      }
    })

    for (const route of routes) {
      test(`${route.name}: those who may, may; all others 403`, async () => {
        const row = rowOf(route)
        const otherwise = row.otherwise === undefined ? 403 : away
        for (const role of ladder) {
          const token = await door.enter(door.eng.org, role)
          const ids = await idsFor(door, row, token)
          const { status, text } = await tryIt(speaking(dialect), route, ids, token)
          const allowed =
            row.least === undefined || ladder.indexOf(role) >= ladder.indexOf(row.least)
          assert.equal(status, allowed ? row.ok : otherwise, `${role}: ${text}`)
        }
        // One of them disables the organisation that all others are tried in.
        await sql`update org set disabled = false`.execute(door.cloud.db)
      })
    }

    test('a template of another organisation is as unknown as none, also to the administrator of all', async () => {
      const path = `/api/vdc/${door.eng.ids['vdc']}/action/instantiateVAppTemplate`
      for (const role of ['author', 'system administrator'] as const) {
        const token = await door.enter(door.eng.org, role)
        const make = (template = '') => {
          const body = instantiate('stolen', template.replace('vappTemplate-', ''), false)
          return speaking(dialect).ask('POST', path, { token, body })
        }
        const theirs = await make(door.ops.ids['template'])
        const nobodys = await make(unknown['template'])
        assert.equal(theirs.status, 400)
        assert.equal(theirs.text, nobodys.text)
      }
    })
  })
