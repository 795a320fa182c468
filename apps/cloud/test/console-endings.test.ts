// Goal: changes through the API take effect on an open screen at its next renewal: it continues or ends as it must, and the
// organisation can audit it. Method: the API over HTTP, a console with the three database functions, reports of a host.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'

import { openDatabase } from '@skerry/postgres'
import { closeConsole, redeemTicket, renewConsoles, type Redeemed } from '@skerry/ticket'
import type { VmId } from '@skerry/vm'
import { attribute, text } from '@skerry/xml'
import { sql, type Kysely } from 'kysely'

import { recordSeen } from '../src/inventory/vms.ts'
import { vmAt } from './away-host.ts'
import { lightHash } from './light-hash.ts'
import { addRoleRow } from './role-row.ts'
import { addShareUser } from './share-row.ts'
import {
  BASE,
  find,
  linksOf,
  logIn,
  openTenantsApi,
  pathOf,
  read,
  type TenantsApi,
} from './tenants-api.ts'

let api: TenantsApi
let console: Kysely<object>
let admin: string
let root: string
before(async () => {
  api = await openTenantsApi()
  const url = new URL(api.cloud.url)
  url.searchParams.set('options', '-c role=skerry_console')
  console = openDatabase<object>({ url: url.href, applicationName: 'console', size: 2 })
  admin = await api.enter(api.eng.org, 'organisation administrator')
  root = await api.enter(api.eng.org, 'system administrator')
})
after(async () => {
  await console.destroy()
  await api[Symbol.asyncDispose]()
})

const PASSWORD = 'long enough'
const FROM = '192.0.2.7'

/** A user who has logged in, taken a ticket for the screen of a running VM, and logged out, as scripts of these clients do. */
async function see(): Promise<{ vm: VmId; user: string; account: string; seen: Redeemed }> {
  const [vm] = (await api.cloud.addVms(1, 'POWERED_ON')).vms as [VmId]
  await report(vm, 'on')
  const user = `u-${randomBytes(4).toString('hex')}`
  const { id: account } = await api.cloud.db
    .insertInto('account')
    .values({
      org: api.eng.org,
      name: user,
      role: 'user',
      password: await lightHash(PASSWORD),
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  const { token } = await logIn(api.ask, `${user}@eng`, PASSWORD)
  const path = `/api/vApp/vm-${vm}/screen/action/acquireTicket`
  const ticket = read(await api.ask('POST', path, { token }))
  const secret = new URL(attribute(ticket, 'wss') ?? '').searchParams.get('ticket') ?? ''
  assert.equal((text(ticket) ?? '').split('ticket=')[1], secret)
  assert.equal((await api.ask('DELETE', '/api/session', { token })).status, 204)
  const seen = await redeemTicket(console, secret, 'k1', FROM)
  assert.ok(typeof seen === 'object', 'a logout revokes no ticket')
  assert.deepEqual([seen.screen.vm, seen.screen.host], [vm, api.cloud.host])
  return { vm, user, account, seen }
}

let seq = 0
/** The report of the host about the VM. */
async function report(vm: VmId, power: 'on' | 'off' | 'suspended'): Promise<void> {
  const sight = { id: vm, session: '1', seq: (seq += 1), vm: vmAt(vm, power) }
  await recordSeen(api.cloud.db, api.cloud.host, [sight])
}

const endOf = async ({ console: id }: Redeemed): Promise<string | undefined> =>
  (await renewConsoles(console, 'k1', [{ console: id, bytes: 1 }]))[0]?.why

const change = async (account: string, body: string): Promise<void> => {
  const answer = await api.ask('PUT', `/api/admin/user/${account}`, { token: admin, body })
  assert.equal(answer.status, 200, answer.text)
}

test('an open screen survives a change to another role with the right; not the removal of its user, nor a new password', async () => {
  const { account, seen } = await see()
  assert.equal(await endOf(seen), undefined)
  await change(account, '<User><Role name="console only"/></User>')
  assert.equal(await endOf(seen), undefined)
  await change(account, '<User><IsEnabled>false</IsEnabled></User>')
  assert.equal(await endOf(seen), 'user-disabled')
  const other = await see()
  await change(other.account, '<User><Password>another one</Password></User>')
  assert.equal(await endOf(other.seen), 'new-password')
})

test('a role of the organisation shows screens as long as it has the right', async () => {
  const { account, seen } = await see()
  const body = (right: string) => `<OrgRole name="viewer"><Right>${right}</Right></OrgRole>`
  const roles = `/api/admin/org/${api.eng.org}/roles`
  const made = await api.ask('POST', roles, { token: admin, body: body('vm:console') })
  await change(account, '<User><Role name="viewer"/></User>')
  assert.equal(await endOf(seen), undefined)
  const path = pathOf(String(made.headers['location']))
  read(await api.ask('PUT', path, { token: admin, body: body('vm:read') }))
  assert.equal(await endOf(seen), 'no-permission')
})

test('a share shows the screens of its vApp as long as it has the right, and its end closes them', async () => {
  const { org } = api.eng
  const role = `r-${randomBytes(4).toString('hex')}`
  await addRoleRow(api.cloud.db, org, role, ['session'])
  const user = await addShareUser(api.cloud.db, org, role)
  const { vapp, vms } = await api.cloud.addVms(1, 'POWERED_ON')
  const [vm] = vms as [VmId]
  await report(vm, 'on')
  const share = `/api/vApp/vapp-${vapp}/action/controlAccess`
  const give = async (level?: string) => {
    const settings =
      level === undefined
        ? ''
        : `<AccessSettings><AccessSetting><Subject type="user" name="${user.user}"/><AccessLevel>${level}</AccessLevel></AccessSetting></AccessSettings>`
    const body = `<ControlAccessParams><IsSharedToEveryone>false</IsSharedToEveryone>${settings}</ControlAccessParams>`
    read(await api.ask('POST', share, { token: admin, body }))
  }
  const acquire = () =>
    api.ask('POST', `/api/vApp/vm-${vm}/screen/action/acquireTicket`, { token: user.token })
  const open = async () => {
    const ticket = read(await acquire())
    const secret = new URL(attribute(ticket, 'wss') ?? '').searchParams.get('ticket') ?? ''
    const seen = await redeemTicket(console, secret, 'k1', FROM)
    assert.ok(typeof seen === 'object')
    return seen
  }
  await give('ReadOnly')
  assert.equal((await acquire()).status, 403)
  await give('Change')
  const seen = await open()
  assert.equal(await endOf(seen), undefined)
  await give('FullControl')
  assert.equal(await endOf(seen), undefined)
  // A ticket that was issued before is worth nothing after.
  const early = read(await acquire())
  const secret = new URL(attribute(early, 'wss') ?? '').searchParams.get('ticket') ?? ''
  await give('ReadOnly')
  assert.equal(await endOf(seen), 'no-permission')
  assert.equal(await redeemTicket(console, secret, 'k1', FROM), 'unknown')
  await give('Change')
  const again = await open()
  await give()
  assert.equal(await endOf(again), 'no-permission')
})

test('disabling an organisation closes its screens', async () => {
  const { seen } = await see()
  const disable = `/api/admin/org/${api.eng.org}/action/disable`
  const shut = await api.ask('POST', disable, { token: root })
  const why = await endOf(seen)
  await sql`update org set disabled = false`.execute(api.cloud.db)
  await api.resume()
  admin = await api.enter(api.eng.org, 'organisation administrator')
  assert.deepEqual([shut.status, why], [204, 'org-disabled'])
})

test('reports of the host end the screen of a VM: off, suspended, or in another boot', async () => {
  const off = await see()
  await report(off.vm, 'off')
  assert.equal(await endOf(off.seen), 'vm-powered-off')
  const suspended = await see()
  await report(suspended.vm, 'suspended')
  assert.equal(await endOf(suspended.seen), 'vm-suspended')
  const again = await see()
  await report(again.vm, 'off')
  const sight = { ...vmAt(again.vm, 'on'), boot: 'boot-2' }
  const seen = { id: again.vm, session: '1', seq: (seq += 1), vm: sight }
  await recordSeen(api.cloud.db, api.cloud.host, [seen])
  assert.equal(await endOf(again.seen), 'vm-restarted')
})

test('an accepted delete ends the screen, before it is carried out', async () => {
  const { vm, seen } = await see()
  const off = { token: api.eng.token }
  await api.ask('POST', `/api/vApp/vm-${vm}/power/action/powerOff`, off)
  assert.equal((await api.ask('DELETE', `/api/vApp/vm-${vm}`, off)).status, 202)
  assert.equal(await endOf(seen), 'vm-deleted')
})

test('an administrator of the cloud lists the open screens and closes one; the user may open it again, and the closing is recorded', async () => {
  const chief = await api.enter(api.eng.org, 'system administrator')
  const { vm, user, seen } = await see()
  const list = async (token: string) =>
    find(read(await api.ask('GET', '/api/admin/consoles', { token })), 'Console').filter(
      (each) => attribute(each, 'userName') === user,
    )
  assert.equal(await endOf(seen), undefined)
  const [open] = await list(chief)
  assert.ok(open)
  const said = ['vmName', 'orgName', 'userAddress', 'server', 'vm'].map((name) =>
    attribute(open, name),
  )
  const address = `${BASE}/api/vApp/vm-${vm}`
  assert.deepEqual(said, ['vm-0', 'eng', FROM, 'k1', address])
  const path = pathOf(linksOf(open)['remove'] ?? '')
  assert.equal(path, `/api/admin/console/${seen.console}`)
  assert.equal((await api.ask('DELETE', path, { token: admin })).status, 404)
  assert.equal(await endOf(seen), undefined)
  assert.equal((await api.ask('DELETE', path, { token: chief })).status, 204)
  assert.equal(await endOf(seen), 'closed-by-administrator')
  assert.deepEqual(await list(chief), [])
  assert.equal((await api.ask('DELETE', path, { token: chief })).status, 204, 'it is not gone yet')
  await closeConsole(console, seen.console, 1, 'the browser left')
  assert.equal((await api.ask('DELETE', path, { token: chief })).status, 404)
  const events = await sql<{ kind: string; details: Record<string, unknown> }>`
    select kind, details from event where vm = ${vm} and kind like 'console.%' order by tx, seq`.execute(
    api.cloud.db,
  )
  const kinds = events.rows.map(({ kind }) => kind)
  assert.deepEqual(kinds, ['console.opened', 'console.ended', 'console.closed'])
  assert.equal(events.rows[1]?.details['user'], user)
  assert.notEqual(events.rows[1]?.details['by'], user)
  assert.equal(events.rows[2]?.details['why'], 'closed-by-administrator')
})

test('the organisation, and no other, can audit screens: user, address, duration and reason of the end', async () => {
  const { vm, user, seen } = await see()
  await closeConsole(console, seen.console, 4321, 'the browser left')
  const query = async (kind: string, token: string) => {
    const path = `/api/query?type=event&filter=eventType==${kind};userName==${user}`
    return find(read(await api.ask('GET', path, { token })), 'EventRecord')
  }
  for (const kind of ['screen.ticket', 'console.opened', 'console.closed']) {
    const [record, ...more] = await query(kind, admin)
    assert.deepEqual(more, [], kind)
    const said = ['userAddress', 'eventStatus', 'entityType', 'entityName'].map((name) =>
      attribute(record, name),
    )
    const from = kind === 'screen.ticket' ? '127.0.0.1' : FROM
    assert.deepEqual(said, [from, '1', 'vm', 'vm-0'], kind)
    assert.deepEqual(await query(kind, api.ops.token), [], kind)
  }
  const { details: what } = await api.cloud.db
    .selectFrom('event')
    .select('details')
    .where('vm', '=', vm)
    .where('kind', '=', 'console.closed')
    .executeTakeFirstOrThrow()
  const { opened, closed, ...rest } = what
  const reported = { by: user, from: FROM, via: 'k1', bytes: 4321, why: 'the browser left' }
  assert.deepEqual(rest, reported)
  assert.ok(Date.parse(String(opened)) <= Date.parse(String(closed)))
})
