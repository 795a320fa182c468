// Goal: no caller does or learns anything without the right to it: every route, with every kind of credential.
// Method: every route over HTTP, in each dialect; with the right and without it in XML and in JSON. The required roles are listed again by hand: a route that requires less fails.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { request } from 'node:http'
import { after, before, describe, test } from 'node:test'

import { sql } from 'kysely'

import { hashToken } from '../src/auth/access-token.ts'
import { original, ours, type Dialect } from '../src/dialect/dialect.ts'
import type { Role } from '../src/domain/roles.ts'
import type { CloudRoute } from '../src/http/route.ts'
import { routes } from '../src/routes.ts'
import {
  acceptOf,
  everythingOf,
  idsFor,
  isOpen,
  pathOf,
  bodyOf,
  rowOf,
  tellingOf,
  unknown,
} from './every-route.ts'
import { asJson, jsonOf } from './json-documents.ts'
import { ladder, rows, type Row } from './rights-table.ts'
import {
  instantiate,
  openTenantsApi,
  type Answered,
  type TenantsApi,
  type Spoken,
} from './tenants-api.ts'

/** Each dialect has its own cloud: the tests use resources up. */
let api: TenantsApi

const dialects = [ours, original]

/** Every role in XML; in JSON the lowest role that has the right, and the highest that does not. */
function triesOf({ least }: Row): readonly (readonly [Role, 'xml' | 'json'])[] {
  const lowest = least === undefined ? 0 : ladder.indexOf(least)
  const edge = ladder.filter((_, at) => at === lowest || at === lowest - 1)
  return [
    ...ladder.map((role) => [role, 'xml'] as const),
    ...edge.map((role) => [role, 'json'] as const),
  ]
}

/** The listener of this dialect. */
const speaking = (dialect: Dialect): Spoken =>
  api.spoken.find((each) => each.dialect === dialect) ?? assert.fail(dialect.name)

/** The headers of a response: of a stream, which never ends, or of a HEAD request. */
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
  format: 'xml' | 'json' = 'xml',
): Promise<Answered> {
  const { streams } = rowOf(route)
  const path = pathOf(route, ids)
  const { accept } = acceptOf(route)
  const version = { accept: format === 'xml' ? accept : asJson(accept) }
  const own = token === undefined ? {} : { [at.dialect.tokenHeader]: token }
  if (streams && token !== undefined && headers['cookie'] === undefined) {
    const plain = await at.ask('GET', '/api/session', { token })
    if (plain.status === 200) return beginning(at, path, { ...version, ...own })
  }
  const xml = bodyOf(api, route)
  const text = format === 'json' && xml?.startsWith('<') ? jsonOf(xml) : xml
  return at.ask(route.method, path, {
    headers: { ...version, ...own, ...headers },
    ...(text !== undefined && { body: text }),
  })
}

test('every route has a line in the table of rights, and every line has a route', () => {
  assert.deepEqual(routes.map(({ name }) => name).toSorted(), Object.keys(rows).toSorted())
})

/** A token that was valid until now. */
async function expired(began: string, seen: string): Promise<string> {
  const token = randomBytes(32).toString('base64url')
  await sql`insert into session (token_hash, org, account, began_at, seen_at)
    select ${hashToken(token)}, org, id, clock_timestamp() - ${began}::interval, clock_timestamp() - ${seen}::interval
    from account where org = ${api.eng.org} limit 1`.execute(api.cloud.db)
  return token
}

/** Our resources by every form of id that the path of this route takes. */
function oursFor({ path }: CloudRoute, dialect: Dialect): Readonly<Record<string, string>>[] {
  const { ids, vapp } = api.eng
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
    /** The response for a resource that is missing, or belongs to others. */
    const away = dialect.refusals['not-found'].status
    before(async () => {
      api = await openTenantsApi()
    })
    after(() => api[Symbol.asyncDispose]())

    test('no token, an invalid one, an expired one, and the cookie alone: 401 for every route', async () => {
      const at = speaking(dialect)
      const tokens = [undefined, '', 'bad', 'skat_bad', await expired('1 h', '31 min')]
      tokens.push(await expired('25 h', '1 min'))
      const names = [
        dialect.cookie,
        ...(dialect.pageCookie === undefined ? [] : [dialect.pageCookie]),
      ]
      const cookie = { cookie: names.map((name) => `${name}=${api.eng.token}`).join('; ') }
      const strange = dialects.filter((each) => each !== dialect)
      const elsewhere = Object.fromEntries(
        strange.map(({ tokenHeader }) => [tokenHeader, api.eng.token]),
      )
      for (const route of routes.filter((each) => !isOpen(each))) {
        for (const token of tokens) {
          const { status } = await tryIt(at, route, api.eng.ids, token)
          assert.equal(status, 401, `${route.name} with ${token}`)
        }
        for (const headers of [cookie, elsewhere]) {
          const { status } = await tryIt(at, route, api.eng.ids, undefined, headers)
          assert.equal(status, 401, `${route.name} with ${Object.keys(headers).join()}`)
        }
        if (route.method !== 'GET') continue
        // The HTTP library answers HEAD for every GET route: that is tested too.
        const path = pathOf(route, api.eng.ids)
        const { status } = await beginning(at, path, { ...acceptOf(route), ...cookie }, 'HEAD')
        assert.equal(status, 401, `HEAD of ${route.name}`)
      }
    })

    test('to users of another organisation our resources look missing, and are not changed', async () => {
      const at = speaking(dialect)
      const before = await everythingOf(api, api.eng.org)
      const uuids = Object.values(api.eng.ids).flatMap((id) => /[0-9a-f-]{36}$/.exec(id)?.[0] ?? [])
      for (const role of ladder.filter((each) => each !== 'system administrator')) {
        for (const route of routes.filter((each) => !isOpen(each))) {
          const what = `${role} of another organisation: ${route.name}`
          const token = await api.enter(api.ops.org, role)
          if (!route.path.includes(':')) {
            const { text } = await tryIt(at, route, api.eng.ids, token)
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
          assert.deepEqual(tellingOf(await head(api.eng.ids)), tellingOf(await head(unknown)), what)
        }
      }
      assert.equal(await everythingOf(api, api.eng.org), before)
    })

    test('to a colleague, and to any administrator, an API token and a second factor look missing', async () => {
      const at = speaking(dialect)
      for (const role of ladder) {
        const token = await api.enter(api.eng.org, role)
        for (const route of routes.filter(({ path }) => /:(accessToken|secondFactor)/.test(path))) {
          const theirs = await tryIt(at, route, api.eng.ids, token)
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
      test(`${route.name}: allowed with the right, 403 for all others`, async () => {
        const row = rowOf(route)
        const otherwise = row.otherwise === undefined ? 403 : away
        for (const [role, format] of triesOf(row)) {
          const token = await api.enter(api.eng.org, role)
          const ids = await idsFor(api, route, token)
          const { status, text } = await tryIt(speaking(dialect), route, ids, token, {}, format)
          const allowed =
            row.least === undefined || ladder.indexOf(role) >= ladder.indexOf(row.least)
          const what = `${role}, ${format}: ${text}`
          assert.equal(status, allowed ? row.ok : otherwise, what)
          if (format === 'json' && status >= 400) assert.match(text, /^\{"majorErrorCode":/, what)
          // One of these routes disables the organisation that all others are tested in, which ends its sessions.
          await sql`update org set disabled = false`.execute(api.cloud.db)
          await api.resume()
        }
      })
    }

    test('a template of another organisation looks missing, also to a system administrator', async () => {
      const path = `/api/vdc/${api.eng.ids['vdc']}/action/instantiateVAppTemplate`
      for (const role of ['author', 'system administrator'] as const) {
        const token = await api.enter(api.eng.org, role)
        const make = (template = '') => {
          const body = instantiate('stolen', template.replace('vappTemplate-', ''), false)
          return speaking(dialect).ask('POST', path, { token, body })
        }
        const theirs = await make(api.ops.ids['template'])
        const nobodys = await make(unknown['template'])
        assert.equal(theirs.status, 400)
        assert.equal(theirs.text, nobodys.text)
      }
    })
  })
