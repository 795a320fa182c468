// Goal: what people do through the API reaches an open screen by its next renewal: it goes on where it may, ends where it must, and the
// organisation reads afterwards who saw what. Method: the API over HTTP, a console at the database's three functions, a host's reports.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'

import { openDatabase } from '@skerry/postgres'
import { closeConsole, redeemTicket, renewConsoles, type Redeemed } from '@skerry/ticket'
import type { VmId } from '@skerry/vm'
import { attribute, text } from '@skerry/xml'
import { sql, type Kysely } from 'kysely'

import { hashPassword } from '../src/identity/password.ts'
import { recordSeen } from '../src/store/vms.ts'
import { vmAt } from './away-host.ts'
import { find, logIn, openDoor, read, type Door } from './tenants-door.ts'

let door: Door
let console: Kysely<object>
let admin: string
let root: string
before(async () => {
  door = await openDoor()
  const url = new URL(door.cloud.url)
  url.searchParams.set('options', '-c role=skerry_console')
  console = openDatabase<object>({ url: url.href, applicationName: 'console', size: 2 })
  admin = await door.enter(door.eng.org, 'organisation administrator')
  root = await door.enter(door.eng.org, 'system administrator')
})
after(async () => {
  await console.destroy()
  await door[Symbol.asyncDispose]()
})

const PASSWORD = 'long enough'
const FROM = '192.0.2.7'

/** A user who has logged in, taken a ticket to the screen of a VM that is on, and logged out, as the scripts of this family do. */
async function see(): Promise<{ vm: VmId; user: string; account: string; seen: Redeemed }> {
  const [vm] = (await door.cloud.addVms(1, 'POWERED_ON')).vms as [VmId]
  await report(vm, 'on')
  const user = `u-${randomBytes(4).toString('hex')}`
  const { id: account } = await door.cloud.db
    .insertInto('account')
    .values({
      ...{ org: door.eng.org, name: user, role: 'user' },
      password: await hashPassword(PASSWORD, randomBytes(16)),
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  const { token } = await logIn(door.ask, `${user}@eng`, PASSWORD)
  const path = `/api/vApp/vm-${vm}/screen/action/acquireTicket`
  const ticket = read(await door.ask('POST', path, { token }))
  const secret = new URL(attribute(ticket, 'wss') ?? '').searchParams.get('ticket') ?? ''
  assert.equal((text(ticket) ?? '').split('ticket=')[1], secret)
  assert.equal((await door.ask('DELETE', '/api/session', { token })).status, 204)
  const seen = await redeemTicket(console, secret, 'k1', FROM)
  assert.ok(typeof seen === 'object', 'a logout takes no ticket away')
  assert.deepEqual([seen.screen.vm, seen.screen.host], [vm, door.cloud.host])
  return { vm, user, account, seen }
}

let seq = 0
/** What the host says of the VM. */
async function report(vm: VmId, power: 'on' | 'off' | 'suspended'): Promise<void> {
  const sight = { id: vm, session: '1', seq: (seq += 1), vm: vmAt(vm, power) }
  await recordSeen(door.cloud.db, door.cloud.host, [sight])
}

const endOf = async ({ console: id }: Redeemed): Promise<string | undefined> =>
  (await renewConsoles(console, 'k1', [{ console: id, bytes: 1 }]))[0]?.why

const change = async (account: string, body: string): Promise<void> => {
  const answer = await door.ask('PUT', `/api/admin/user/${account}`, { token: admin, body })
  assert.equal(answer.status, 200, answer.text)
}

test('an open screen outlives the session, another password and another role that may see it; not its user', async () => {
  const { account, seen } = await see()
  assert.equal(await endOf(seen), undefined)
  await change(account, '<User><Role name="console only"/></User>')
  await change(account, '<User><Password>another one</Password></User>')
  assert.equal(await endOf(seen), undefined)
  await change(account, '<User><IsEnabled>false</IsEnabled></User>')
  assert.equal(await endOf(seen), 'the user was disabled')
})

test('an organisation that is disabled sees nothing', async () => {
  const { seen } = await see()
  const disable = `/api/admin/org/${door.eng.org}/action/disable`
  const shut = await door.ask('POST', disable, { token: root })
  const why = await endOf(seen)
  await sql`update org set disabled = false`.execute(door.cloud.db)
  assert.deepEqual([shut.status, why], [204, 'the organisation of the user was disabled'])
})

test('what the host tells of the VM ends its screen: off, suspended, or in another boot', async () => {
  const off = await see()
  await report(off.vm, 'off')
  assert.equal(await endOf(off.seen), 'the VM was powered off')
  const suspended = await see()
  await report(suspended.vm, 'suspended')
  assert.equal(await endOf(suspended.seen), 'the VM was suspended')
  const again = await see()
  await report(again.vm, 'off')
  const sight = { ...vmAt(again.vm, 'on'), boot: 'boot-2' }
  const seen = { id: again.vm, session: '1', seq: (seq += 1), vm: sight }
  await recordSeen(door.cloud.db, door.cloud.host, [seen])
  assert.equal(await endOf(again.seen), 'the VM was started anew')
})

test('a delete that was accepted ends the screen, before it is carried out', async () => {
  const { vm, seen } = await see()
  const off = { token: door.eng.token }
  await door.ask('POST', `/api/vApp/vm-${vm}/power/action/powerOff`, off)
  assert.equal((await door.ask('DELETE', `/api/vApp/vm-${vm}`, off)).status, 202)
  assert.equal(await endOf(seen), 'the VM was deleted')
})

test('who saw which screen, from where, how long and why no longer, is read by the organisation and nobody else', async () => {
  const { vm, user, seen } = await see()
  await closeConsole(console, seen.console, 4321, 'the browser left')
  const query = async (kind: string, token: string) => {
    const path = `/api/query?type=event&filter=eventType==${kind};userName==${user}`
    return find(read(await door.ask('GET', path, { token })), 'EventRecord')
  }
  for (const kind of ['screen.ticket', 'console.opened', 'console.closed']) {
    const [record, ...more] = await query(kind, admin)
    assert.deepEqual(more, [], kind)
    const said = ['userAddress', 'eventStatus', 'entityType', 'entityName'].map((name) =>
      attribute(record, name),
    )
    const from = kind === 'screen.ticket' ? '127.0.0.1' : FROM
    assert.deepEqual(said, [from, '1', 'vm', 'vm-0'], kind)
    assert.deepEqual(await query(kind, door.ops.token), [], kind)
  }
  const { what } = await door.cloud.db
    .selectFrom('event')
    .select('what')
    .where('vm', '=', vm)
    .where('kind', '=', 'console.closed')
    .executeTakeFirstOrThrow()
  const { opened, closed, ...rest } = what
  const told = { by: user, from: FROM, via: 'k1', bytes: 4321, why: 'the browser left' }
  assert.deepEqual(rest, told)
  assert.ok(Date.parse(String(opened)) <= Date.parse(String(closed)))
})
