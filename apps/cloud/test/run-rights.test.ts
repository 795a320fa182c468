// Goal: a workflow run has the rights of the user who started it, in the organisation of its definition, and no others.
// Method: every route at the machine API, with every kind of grant and without one; responses for resources of another
// organisation are compared with those for missing ones, and all stored rows with what they were before.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { readText } from '@skerry/host-api'
import type { OrgId } from '@skerry/vm'

import type { Role } from '../src/domain/roles.ts'
import type { CloudRoute } from '../src/http/route.ts'
import { routes } from '../src/routes.ts'
import {
  acceptOf,
  everythingOf,
  bodyOf,
  idsFor,
  isOpen,
  pathOf,
  rowOf,
  tellingOf,
  unknown,
} from './every-route.ts'
import { ladder } from './rights-table.ts'
import type { Answered } from './tenants-api.ts'
import { openTestWorkflowApi, type TestWorkflowApi } from './workflow-api.ts'

let flow: TestWorkflowApi
let eng: OrgId
let ops: OrgId
let system: OrgId
before(async () => {
  flow = await openTestWorkflowApi()
  ;[eng, ops] = [flow.api.eng.org, flow.api.ops.org]
  const { id } = await flow.api.cloud.db
    .insertInto('org')
    .values({ name: 'System' })
    .returning('id')
    .executeTakeFirstOrThrow()
  system = id
})
after(() => flow[Symbol.asyncDispose]())

type Ids = Readonly<Record<string, string>>
const guarded = routes.filter((each) => !isOpen(each))
/** What no run may do, whichever user started it: get a session, see a screen. */
const isPersonal = ({ permission }: CloudRoute) => ['login', 'vm:console'].includes(permission)

function tryAs(grant: string | undefined, route: CloudRoute, ids: Ids): Promise<Answered> {
  const text = bodyOf(flow.api, route)
  return flow.askAs(grant, route.method, pathOf(route, ids), {
    headers: acceptOf(route),
    ...(text !== undefined && { body: text }),
  })
}

async function grantOf(org: OrgId, role: Role, home = org): Promise<string> {
  const { id } = await flow.addUser(home, role)
  return flow.grant(org, id)
}

const uuidsOf = (ids: Ids): string[] =>
  Object.entries(ids).flatMap(([name, id]) =>
    name === 'host' ? [] : (/[0-9a-f-]{36}$/.exec(id)?.[0] ?? []),
  )

const db = () => flow.api.cloud.db
const worthless: Readonly<Record<string, () => Promise<string | undefined>>> = {
  'no grant': async () => undefined,
  'no id of one': async () => 'x',
  'a grant that never was': async () => unknown['org'],
  'one that was ended': async () => {
    const grant = await grantOf(eng, 'organisation administrator')
    await flow.tell('DELETE', `/machine/v1/grants/${grant}`)
    return grant
  },
  'one of a user who was disabled': async () => {
    const { id } = await flow.addUser(eng, 'organisation administrator')
    const grant = await flow.grant(eng, id)
    await db().updateTable('account').set({ disabled: true }).where('id', '=', id).execute()
    return grant
  },
  'one of who ran the cloud, and does not any more': async () => {
    const { id } = await flow.addUser(system, 'system administrator')
    const grant = await flow.grant(eng, id)
    await db().updateTable('account').set({ role: 'user' }).where('id', '=', id).execute()
    return grant
  },
  'a schedule’s': async () => {
    const { id } = await flow.addUser(eng, 'organisation administrator')
    return flow.grant(eng, id, { kind: 'schedule' })
  },
}

for (const [what, make] of Object.entries(worthless)) {
  test(`${what}: 401 for every route, and nothing changes`, async () => {
    const grant = await make()
    const before = await everythingOf(flow.api, eng)
    for (const route of guarded) {
      const { status, text } = await tryAs(grant, route, flow.api.eng.ids)
      assert.equal(status, 401, `${route.name}: ${text}`)
    }
    assert.equal(await everythingOf(flow.api, eng), before)
  })
}

test('a grant is valid only for its own server: another server gets 401 everywhere, and can neither end nor derive from it', async () => {
  const { id } = await flow.addUser(eng, 'organisation administrator')
  const grant = await flow.grant(eng, id)
  const other = await flow.linkOf('workflow', 'flow-2')
  const before = await everythingOf(flow.api, eng)
  for (const route of guarded) {
    const path = pathOf(route, flow.api.eng.ids)
    const headers = acceptOf(route)
    const { status, text } = await flow.askWith(other, grant, route.method, path, { headers })
    assert.equal(status, 401, `${route.name}: ${text}`)
  }
  assert.equal(await everythingOf(flow.api, eng), before)
  await readText(await other.ask({ method: 'DELETE', path: `/machine/v1/grants/${grant}` }))
  const body = { org: eng, account: id, kind: 'run', parent: grant }
  const drawn = await other.ask({ method: 'POST', path: '/machine/v1/grants', body })
  assert.equal(drawn.statusCode, 403)
  await readText(drawn)
  assert.equal((await flow.askAs(grant, 'GET', '/api/org')).status, 200, 'it still exists')
})

test('a machine that is not a workflow server, with a valid grant: 403 for every route', async () => {
  const grant = await grantOf(eng, 'organisation administrator')
  for (const role of ['cell', 'console', 'host'] as const) {
    const link = await flow.linkOf(role, role === 'host' ? flow.api.cloud.host : 'other')
    for (const route of routes) {
      const path = pathOf(route, { ...flow.api.eng.ids, version: '5.1', file: 'master.xsd' })
      const { status } = await flow.askWith(link, grant, route.method, path)
      assert.equal(status, 403, `${role}: ${route.name}`)
    }
  }
})

test('a grant is ignored by the tenant API', async () => {
  const grant = { 'skerry-grant': await grantOf(eng, 'organisation administrator') }
  for (const route of guarded) {
    const { status } = await flow.api.ask(route.method, pathOf(route, flow.api.eng.ids), {
      headers: { ...acceptOf(route), ...grant },
    })
    assert.equal(status, 401, route.name)
  }
})

const strangers: Readonly<Record<string, () => Promise<string>>> = {
  'the run of another organisation’s administrator': () =>
    grantOf(eng, 'organisation administrator'),
  'a tenant’s run that was started by the system administrator': () =>
    grantOf(eng, 'system administrator', system),
}
for (const [principal, make] of Object.entries(strangers)) {
  test(`${principal}: resources of other tenants look missing, and are not changed`, async (t) => {
    const before = await everythingOf(flow.api, ops)
    const theirs = { ...flow.api.ops.ids, host: flow.api.cloud.host }
    let tried = 0
    for (const route of guarded) {
      const grant = await make()
      if (!route.path.includes(':')) {
        const { text } = await tryAs(grant, route, theirs)
        for (const uuid of uuidsOf(theirs))
          assert.ok(!text.includes(uuid), `${route.name}: ${text}`)
      } else {
        const nobodys = await tryAs(grant, route, unknown)
        assert.equal(nobodys.status, isPersonal(route) ? 403 : 404, route.name)
        for (const ids of [theirs, { ...theirs, entity: flow.api.ops.vapp }]) {
          const answer = await tryAs(grant, route, ids)
          assert.deepEqual(tellingOf(answer), tellingOf(nobodys), route.name)
        }
      }
      tried += 1
    }
    assert.equal(await everythingOf(flow.api, ops), before)
    t.diagnostic(`${tried} addresses, nothing of another organisation read or written`)
  })
}

/** They lead to access that outlasts the run. */
const ofPersons = new Set(['addAccessToken', 'addSecondFactor', 'replaceRecoveryCodes'])

/** The expected status for a run of this role, given that of a session with the same role. */
function expected(route: CloudRoute, role: Role): number {
  const row = rowOf(route)
  // These rights are for people only.
  if (isPersonal(route) || ofPersons.has(route.name)) return 403
  if (route.name === 'deleteSession') return 409
  const allowed = row.least === undefined || ladder.indexOf(role) >= ladder.indexOf(row.least)
  return allowed ? row.ok : (row.otherwise ?? 403)
}

async function tryOnOwn(grant: string, route: CloudRoute): Promise<Answered> {
  const token = await flow.api.enter(eng, 'organisation administrator')
  const ids = await idsFor(flow.api, route, token)
  // An API token and a second factor belong to the user who created them, and these runs were started by others.
  return tryAs(grant, route, ids)
}

for (const route of guarded.filter(({ path }) => !/:(accessToken|secondFactor)/.test(path))) {
  test(`${route.name}: a run has only the rights that its user has now and had at its start`, async () => {
    for (const role of ladder) {
      const home = role === 'system administrator' ? system : eng
      const worth = role === 'system administrator' ? 'organisation administrator' : role
      const { status, text } = await tryOnOwn(await grantOf(eng, role, home), route)
      assert.equal(status, expected(route, worth), `${role}: ${text}`)
    }
    const { id } = await flow.addUser(eng, 'organisation administrator')
    const set = (role: Role) =>
      db().updateTable('account').set({ role }).where('id', '=', id).execute()
    const high = await flow.grant(eng, id)
    await set('console only')
    const lowered = await tryOnOwn(high, route)
    assert.equal(lowered.status, expected(route, 'console only'), `lowered: ${lowered.text}`)
    const low = await flow.grant(eng, id)
    await set('organisation administrator')
    const raised = await tryOnOwn(low, route)
    assert.equal(raised.status, expected(route, 'console only'), `raised: ${raised.text}`)
    await db().updateTable('org').set({ disabled: false }).execute()
  })
}
