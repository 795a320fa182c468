// Goal: a share opens exactly the requests of its level at its object: every route × every level × every kind of object.
// Method: generated over HTTP: a user without rights, with whom another object is shared. Each route at an object before it is shared
// with them: refused. While it is shared: allowed if the level has the right that is listed by hand, and refused otherwise.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { original, ours } from '../src/dialect/dialect.ts'
import type { Permission } from '../src/domain/roles.ts'
import { shareLevels, type SharedKind, type ShareLevel } from '../src/domain/shares.ts'
import { sharedAs } from '../src/http/path-resources.ts'
import type { CloudRoute } from '../src/http/route.ts'
import { routes } from '../src/routes.ts'
import { acceptOf, bodyOf, idsFor, isOpen, pathOf, rowOf } from './every-route.ts'
import { routesOf } from './rights-by-name.ts'
import { fresh } from './rights-table.ts'
import { addRoleRow } from './role-row.ts'
import { addShareRow, addShareUser, removeShareRows, vappOf, type ShareUser } from './share-row.ts'
import { find, hrefOf, instantiate, openTenantsApi, read, type TenantsApi } from './tenants-api.ts'

let api: TenantsApi
/** Shared with everyone who asks: it must not open the other ones. */
const decoy = { vapp: '', catalog: '' }
before(async () => {
  api = await openTenantsApi()
  decoy.vapp = (await api.cloud.addVms(1, 'POWERED_OFF')).vapp
  const { id } = await api.cloud.db
    .insertInto('catalog')
    .values({ org: api.eng.org, name: 'decoy' })
    .returning('id')
    .executeTakeFirstOrThrow()
  decoy.catalog = id
})
after(() => api[Symbol.asyncDispose]())

const away = ours.refusals['not-found'].status

/** What each level gives, written by hand. */
const given: Readonly<Record<SharedKind, Readonly<Record<ShareLevel, readonly Permission[]>>>> = {
  vapp: {
    ReadOnly: ['vm:read'],
    Change: ['vm:read', 'vm:power', 'vm:console'],
    FullControl: ['vm:read', 'vm:power', 'vm:console', 'vm:edit'],
  },
  catalog: {
    ReadOnly: ['org:read'],
    Change: ['org:read', 'vm:edit'],
    FullControl: ['org:read', 'vm:edit'],
  },
}

/** The rights of the role: to log out, and to choose networks, which no share gives. */
const ROLE: readonly Permission[] = ['session', 'network:read']

/** The names in a path that belong to each kind of object. */
const named: Readonly<Record<SharedKind, RegExp>> = {
  vapp: /:(entity|task)\b/,
  catalog: /:(catalog|catalogItem|template|upload|urn)\b/,
}

/** Names in a path that belong to neither. */
const notShared = new Set(
  (
    'org vdc network edgeGateway externalNetwork address securityGroup provider role webhook accessToken secondFactor ' +
    'userToken account host console key version file'
  ).split(' '),
)

test('every name in a path is of a vApp, of a catalog, or of nothing that is shared', () => {
  const all = new Set(
    routes.flatMap(({ path }) => [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name)),
  )
  const kinds = Object.values(named)
  const unknown = [...all].filter(
    (name) => !notShared.has(name) && !kinds.some((each) => each.test(`:${name}`)),
  )
  assert.deepEqual(unknown, [])
  const shared = [...all].filter((name) => !notShared.has(name))
  assert.deepEqual(shared.toSorted(), Object.keys(sharedAs).toSorted())
})

/** They show what is shared, whatever it is. */
const queries = new Set(['runQuery', 'queryVms', 'queryVapps', 'queryTemplates', 'queryCatalogs'])

const allows = (rights: readonly Permission[], { name }: CloudRoute): boolean =>
  rights.some((right) => routesOf[right].includes(name))

const NO_SHARES =
  '<ControlAccessParams><IsSharedToEveryone>false</IsSharedToEveryone></ControlAccessParams>'
const bodies: Readonly<Record<string, string>> = {
  changeVappAccess: NO_SHARES,
  changeCatalogAccess: NO_SHARES,
}

type Ids = Readonly<Record<string, string>>

async function send(route: CloudRoute, ids: Ids, token: string): Promise<[number, string]> {
  const body = bodies[route.name] ?? bodyOf(api, route)
  const stream = new AbortController()
  const answer = await fetch(`http://127.0.0.1:${api.port}${pathOf(route, ids)}`, {
    method: route.method,
    headers: {
      ...acceptOf(route),
      [ours.tokenHeader]: token,
      ...(body !== undefined && { 'content-type': 'application/xml' }),
    },
    ...(body !== undefined && { body }),
    signal: stream.signal,
  })
  const text = rowOf(route).streams && answer.ok ? '' : await answer.text()
  stream.abort()
  return [answer.status, text]
}

/** A task of a vApp of its own. */
async function addTask(): Promise<{ readonly task: string; readonly vapp: string }> {
  const { ids, token } = api.eng
  const path = `/api/vdc/${ids['vdc']}/action/instantiateVAppTemplate`
  const body = instantiate(fresh(), ids['template']?.slice(-36) ?? '', false)
  const made = read(await api.ask('POST', path, { token, body }), 201)
  const [task] = find(made, 'Tasks', 'Task')
  return { task: hrefOf(task).split('/').at(-1) ?? '', vapp: hrefOf(made).slice(-36) }
}

interface Target {
  readonly ids: Ids
  readonly object: { readonly vapp: string } | { readonly catalog: string }
}

/** What a route is asked about: every form of it. */
async function targetsOf(route: CloudRoute, kind: SharedKind): Promise<readonly Target[]> {
  const ids = await idsFor(api, route, await api.enter(api.eng.org, 'author'))
  if (kind === 'vapp') {
    if (route.path.includes(':task')) {
      const { task, vapp } = await addTask()
      return [{ ids: { ...ids, task }, object: { vapp } }]
    }
    const entity = ids['entity'] ?? ''
    return [{ ids, object: { vapp: await vappOf(api.cloud.db, entity) } }]
  }
  const object = { catalog: ids['catalog'] ?? '' }
  if (!route.path.includes(':urn')) return [{ ids, object }]
  const urns = [
    `urn:skerry:catalog:${ids['catalog']}`,
    `urn:vcloud:catalogitem:${ids['catalogItem']}`,
    `urn:skerry:vapptemplate:${ids['template']?.slice(-36)}`,
    ids['template'] ?? '',
  ]
  return urns.map((urn) => ({ ids: { ...ids, urn }, object }))
}

/** Recomposing takes a template, which must be readable: by another share. */
async function shareTemplates(route: CloudRoute, user: ShareUser): Promise<void> {
  if (route.name !== 'recompose') return
  const catalog = api.eng.ids['catalog'] ?? ''
  await removeShareRows(api.cloud.db, user, { catalog })
  await addShareRow(api.cloud.db, user, { catalog }, 'ReadOnly')
}

const refusal = (route: CloudRoute): number => (rowOf(route).otherwise === undefined ? 403 : away)

for (const kind of ['vapp', 'catalog'] as const) {
  for (const level of shareLevels) {
    test(`${level} of a ${kind}: each route of its rights is allowed there, and no other; at a neighbour none is`, async () => {
      const role = fresh()
      await addRoleRow(api.cloud.db, api.eng.org, role, ROLE)
      let opened = 0
      for (const route of routes.filter((each) => !isOpen(each) && !allows(ROLE, each))) {
        const user = await addShareUser(api.cloud.db, api.eng.org, role)
        await addShareRow(api.cloud.db, user, { vapp: decoy.vapp }, level)
        await addShareRow(api.cloud.db, user, { catalog: decoy.catalog }, level)
        const isNamed = named[kind].test(route.path)
        const sharesOn =
          !route.name.endsWith('Access') || level === 'FullControl' || route.method === 'GET'
        for (const { ids, object } of await targetsOf(route, kind)) {
          const what = `${route.name} ${JSON.stringify(ids)}`
          const [before, first] = await send(route, ids, user.token)
          assert.equal(before, queries.has(route.name) ? 200 : refusal(route), `${what}: ${first}`)
          await addShareRow(api.cloud.db, user, object, level)
          await shareTemplates(route, user)
          const [status, text] = await send(route, ids, user.token)
          const isAllowed = isNamed && sharesOn && allows(given[kind][level], route)
          const expected = isAllowed || queries.has(route.name) ? rowOf(route).ok : refusal(route)
          assert.equal(status, expected, `${what}: ${text}`)
          if (isAllowed) opened += 1
          await removeShareRows(api.cloud.db, user, object)
          if (rowOf(route).from !== undefined || route.method !== 'GET' || !isAllowed) continue
          assert.equal((await send(route, ids, user.token))[0], refusal(route), what)
        }
      }
      assert.ok(opened >= (kind === 'vapp' ? 11 : 6), `${opened} requests were opened`)
    })
  }
}

test('in both dialects a share opens the same, and what is not shared is refused as before', async () => {
  const role = fresh()
  await addRoleRow(api.cloud.db, api.eng.org, role, ['session'])
  for (const { ask, dialect } of api.spoken) {
    const user = await addShareUser(api.cloud.db, api.eng.org, role)
    const path = `/api/vApp/${api.eng.vapp}`
    const { status } = dialect.refusals.forbidden
    assert.equal((await ask('GET', path, { token: user.token })).status, status)
    await addShareRow(api.cloud.db, user, { vapp: api.eng.vapp }, 'ReadOnly')
    assert.equal((await ask('GET', path, { token: user.token })).status, 200)
    const unknown = await ask('GET', '/api/vApp/vapp-01980000-0000-7000-8000-00000000abcd', {
      token: user.token,
    })
    assert.equal(unknown.status, dialect.refusals['not-found'].status)
    assert.equal(dialect === ours || dialect === original, true)
  }
})
