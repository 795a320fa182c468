// Goal: a run of a workflow does and learns what who started it may, in the organisation of its definition, and nothing else.
// Method: every row of the route table at the machines' door, with every kind of grant and without one; what belongs to another
// organisation is held against what never was, and all that is written down of it against what it was before.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import type { OrgId } from '@skerry/vm'

import type { Role } from '../src/identity/roles.ts'
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
import { ladder } from './rights-table.ts'
import type { Answered } from './tenants-door.ts'
import { openWorkflowDoor, type WorkflowDoor } from './workflow-door.ts'

let flow: WorkflowDoor
let eng: OrgId
let ops: OrgId
let system: OrgId
before(async () => {
  flow = await openWorkflowDoor()
  ;[eng, ops] = [flow.door.eng.org, flow.door.ops.org]
  const { id } = await flow.door.cloud.db
    .insertInto('org')
    .values({ name: 'System' })
    .returning('id')
    .executeTakeFirstOrThrow()
  system = id
})
after(() => flow[Symbol.asyncDispose]())

type Ids = Readonly<Record<string, string>>
const guarded = routes.filter((each) => !isOpen(each))
/** What no run may, whoever started it: to become a session, to see a screen. */
const isPersonal = ({ permission }: CloudRoute) => ['login', 'vm:console'].includes(permission)

function tryAs(grant: string | undefined, route: CloudRoute, ids: Ids): Promise<Answered> {
  const text = rowOf(route).body?.(ids)
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

const db = () => flow.door.cloud.db
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
  test(`${what}: 401 at every address, and nothing changes`, async () => {
    const grant = await make()
    const before = await everythingOf(flow.door, eng)
    for (const route of guarded) {
      const { status, text } = await tryAs(grant, route, flow.door.eng.ids)
      assert.equal(status, 401, `${route.name}: ${text}`)
    }
    assert.equal(await everythingOf(flow.door, eng), before)
  })
}

test('a machine that is no workflow server, with a grant that is good: 403 at every address', async () => {
  const grant = await grantOf(eng, 'organisation administrator')
  for (const role of ['cell', 'console', 'host'] as const) {
    const link = await flow.linkOf(role, role === 'host' ? flow.door.cloud.host : 'other')
    for (const route of routes) {
      const path = pathOf(route, { ...flow.door.eng.ids, version: '5.1', file: 'master.xsd' })
      const { status } = await flow.askWith(link, grant, route.method, path)
      assert.equal(status, 403, `${role}: ${route.name}`)
    }
  }
})

test('a grant says nothing at the tenants’ door', async () => {
  const grant = { 'skerry-grant': await grantOf(eng, 'organisation administrator') }
  for (const route of guarded) {
    const { status } = await flow.door.ask(route.method, pathOf(route, flow.door.eng.ids), {
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
for (const [who, make] of Object.entries(strangers)) {
  test(`${who}: what is not its tenant’s is what never was, and nothing of it changes`, async (t) => {
    const before = await everythingOf(flow.door, ops)
    const theirs = { ...flow.door.ops.ids, host: flow.door.cloud.host }
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
        for (const ids of [theirs, { ...theirs, entity: flow.door.ops.vapp }]) {
          const answer = await tryAs(grant, route, ids)
          assert.deepEqual(tellingOf(answer), tellingOf(nobodys), route.name)
        }
      }
      tried += 1
    }
    assert.equal(await everythingOf(flow.door, ops), before)
    t.diagnostic(`${tried} addresses, nothing of another organisation read or written`)
  })
}

/** What a run of this role is told where a session of that role is told something. */
function expected(route: CloudRoute, role: Role): number {
  const row = rowOf(route)
  // These are for people, and stay with them.
  if (isPersonal(route) || route.name === 'addAccessToken') return 403
  if (route.name === 'deleteSession') return 409
  const allowed = row.least === undefined || ladder.indexOf(role) >= ladder.indexOf(row.least)
  return allowed ? row.ok : (row.otherwise ?? 403)
}

async function tryOnOwn(grant: string, route: CloudRoute): Promise<Answered> {
  const token = await flow.door.enter(eng, 'organisation administrator')
  const ids = await idsFor(flow.door, rowOf(route), token)
  // A token for scripts belongs to who made it, and these runs were started by others.
  return tryAs(grant, route, ids)
}

for (const route of guarded.filter(({ path }) => !path.includes(':accessToken'))) {
  test(`${route.name}: a run may what who started it may now and might then`, async () => {
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
