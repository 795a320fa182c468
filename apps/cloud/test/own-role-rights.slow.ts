// Goal: a role of an organisation allows exactly the requests of its rights, whichever they are.
// Method: generated roles over HTTP: each right alone, with every route; and each role of every organisation without one of its rights,
// with every route that must be refused, and those that read.
// The right of each route is listed again by hand.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { ours } from '../src/dialect/dialect.ts'
import { grantable, permissions, roles, type Permission } from '../src/domain/roles.ts'
import type { CloudRoute } from '../src/http/route.ts'
import { routes } from '../src/routes.ts'
import { acceptOf, bodyOf, idsFor, isOpen, pathOf, rowOf } from './every-route.ts'
import { routesOf } from './rights-by-name.ts'
import { fresh, ladder, rows } from './rights-table.ts'
import { addRoleRow } from './role-row.ts'
import { find, hrefOf, instantiate, openTenantsApi, read, type TenantsApi } from './tenants-api.ts'

let api: TenantsApi
before(async () => {
  api = await openTenantsApi()
})
after(() => api[Symbol.asyncDispose]())

const away = ours.refusals['not-found'].status

/** Each right alone, beside the right to log out. */
const single = grantable.map((right) => [...new Set<Permission>(['session', right])])

/** The roles of every organisation without one of their rights, each set once. */
const without = new Map(
  Object.values(roles).flatMap((held) => {
    const own = grantable.filter((each) => (held as readonly string[]).includes(each))
    const left = own.filter((each) => each !== 'session')
    return left.map((each) => {
      const rights = own.filter((other) => other !== each)
      return [rights.join(), rights] as const
    })
  }),
)

test('every route is listed under one right, which its least role has, and none before it', () => {
  const listed = Object.values(routesOf).flat()
  assert.deepEqual(listed.toSorted(), Object.keys(rows).toSorted())
  for (const right of permissions) {
    const least = ladder.find((role) => (roles[role] as readonly string[]).includes(right))
    for (const name of routesOf[right]) assert.equal(rows[name]?.least, least, name)
  }
})

/** A user who has this role, and whose name and id are of no other. */
async function addUser(role: string): Promise<string> {
  const { id } = await api.cloud.db
    .insertInto('account')
    .values({ org: api.eng.org, name: fresh(), role, password: 'none' })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

/** A task that nothing else depends on: it is canceled. */
async function addTask(): Promise<string> {
  const { ids, token } = api.eng
  const made = await api.ask('POST', `/api/vdc/${ids['vdc']}/action/instantiateVAppTemplate`, {
    token,
    body: instantiate(fresh(), ids['template']?.slice(-36) ?? '', false),
  })
  const [task] = find(read(made, 201), 'Tasks', 'Task')
  return hrefOf(task).split('/').at(-1) ?? ''
}

const NO_SHARES =
  '<ControlAccessParams><IsSharedToEveryone>false</IsSharedToEveryone></ControlAccessParams>'

/** No one gives more than they have: such requests are about the caller's own role. */
const within: Readonly<Record<string, (role: string) => string>> = {
  addUser: (role) =>
    `<User name="${fresh()}"><Role name="${role}"/><Password>long enough</Password></User>`,
  addRole: () => `<OrgRole name="${fresh()}"><Right>session</Right></OrgRole>`,
  changeRole: () => '<OrgRole><Right>session</Right></OrgRole>',
  changeVappAccess: () => NO_SHARES,
  changeCatalogAccess: () => NO_SHARES,
  writeGroupRoles: (role) => `<GroupRoles><GroupRole name="g" role="${role}"/></GroupRoles>`,
}

async function idsWithin(
  route: CloudRoute,
  token: string,
  role: string,
): Promise<Readonly<Record<string, string>>> {
  const ids = await idsFor(api, route, token)
  const account = route.path.includes(':account') ? { account: await addUser(role) } : {}
  const task = route.path.includes(':task') ? { task: await addTask() } : {}
  const own = route.path.includes(':role')
    ? { role: (await addRoleRow(api.cloud.db, api.eng.org, fresh(), ['session'])).id }
    : {}
  return { ...ids, ...account, ...task, ...own }
}

/** Sends the request that the route documents. */
async function request(
  route: CloudRoute,
  ids: Readonly<Record<string, string>>,
  { token, role }: { readonly token: string; readonly role: string },
): Promise<{ readonly status: number; readonly text: string }> {
  const body = within[route.name]?.(role) ?? bodyOf(api, route)
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
  return { status: answer.status, text }
}

const allows = (rights: readonly Permission[], { name }: CloudRoute): boolean =>
  rights.some((right) => routesOf[right].includes(name))

/** Every route that these rights do not allow is refused, with the same user: nothing happens. */
async function requireRefusals(role: string, rights: readonly Permission[]): Promise<number> {
  const token = await api.enter(api.eng.org, role)
  const refused = routes.filter((each) => !isOpen(each) && !allows(rights, each))
  for (const route of refused) {
    const row = rowOf(route)
    // What the path names is hidden from the role if it does not belong to the organisation.
    const ids =
      row.otherwise === undefined
        ? { ...api.eng.ids, ...(row.whole && { entity: api.eng.vapp }) }
        : await idsFor(api, route, token)
    const { status, text } = await request(route, ids, { token, role })
    assert.equal(status, row.otherwise === undefined ? 403 : away, `${route.name}: ${text}`)
  }
  return refused.length
}

for (const rights of single) {
  test(`${rights.join(', ')} alone: each of its routes is allowed, and no other`, async () => {
    const role = fresh()
    await addRoleRow(api.cloud.db, api.eng.org, role, rights)
    const refused = await requireRefusals(role, rights)
    const allowed = routes.filter((each) => !isOpen(each) && allows(rights, each))
    for (const route of allowed) {
      const token = await api.enter(api.eng.org, role)
      const ids = await idsWithin(route, token, role)
      const { status, text } = await request(route, ids, { token, role })
      assert.equal(status, rowOf(route).ok, `${route.name}: ${text}`)
    }
    assert.equal(refused + allowed.length, routes.filter((each) => !isOpen(each)).length)
  })
}

for (const rights of without.values()) {
  test(`${rights.join(', ')}, and no other: each other route is refused, and what they may read is read`, async () => {
    const role = fresh()
    await addRoleRow(api.cloud.db, api.eng.org, role, rights)
    const refused = await requireRefusals(role, rights)
    assert.ok(refused > 20, String(refused))
    const token = await api.enter(api.eng.org, role)
    const isReading = (each: CloudRoute) =>
      each.method === 'GET' && !isOpen(each) && rowOf(each).from === undefined
    for (const route of routes.filter((each) => isReading(each) && allows(rights, each))) {
      // A user sees only their own tokens and second factors, and these are those of another one.
      if (/:(accessToken|secondFactor)/.test(route.path)) continue
      const ids = { ...api.eng.ids, ...(rowOf(route).whole && { entity: api.eng.vapp }) }
      const { status, text } = await request(route, ids, { token, role })
      assert.equal(status, rowOf(route).ok, `${route.name}: ${text}`)
    }
  })
}
