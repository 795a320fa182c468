// Goal: a ticket opens the screen of one boot of one VM, once, within 30 s of the database's clock, from one Origin; nothing else
// opens any. Method: two console processes over a real PostgreSQL; hosts are simulated, each screen is named after its VM, so
// that a wrong one is detected.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { connectHost, isDistrust } from '@skerry/host-api'
import { reasonWithoutRoot, until } from '@skerry/lab'
import type { HostId, VmId } from '@skerry/vm'
import { sql } from 'kysely'

import type { User } from '../../apps/cloud/test/console-database.ts'
import { hostileOrigins } from './hostile-origins.ts'
import { CLOUD, startSmallConsole, type SmallConsole } from './small-console.ts'
import { connectTo, inTurns, look, mustLook, shake, type Viewer } from './viewer.ts'

const skip = reasonWithoutRoot('cloud') ?? false
const TICKETS = 1000
const VMS = 250
const USERS = 50

let small: SmallConsole
let vms: VmId[]
let users: User[]
before(async () => {
  if (skip) return
  small = await startSmallConsole({ hosts: 4 })
  vms = await small.addVms(VMS)
  users = await small.users(USERS)
})
after(async () => {
  await small?.[Symbol.asyncDispose]()
})

const someVm = (at: number): VmId => vms[at % VMS] as VmId
const someUser = (at: number): User => users[at % USERS] as User
const consoleAt = (at: number): string => small.consoles[at % 2]?.url ?? ''
const requested = (vm: VmId, ticket: string, at = 0) => ({
  url: consoleAt(at),
  ca: small.authority.site,
  vm,
  ticket,
})
const openRows = async (): Promise<number> => {
  const { rows } = await sql<{ count: string }>`select count(*) from console`.execute(
    small.it.cloud.db,
  )
  return Number(rows[0]?.count)
}

test(
  'a thousand tickets, each redeemed at the same time at two processes, open a thousand screens, each of its own VM',
  { skip },
  async () => {
    const list = Array.from({ length: TICKETS }, (_, at) => at)
    const viewers: Viewer[] = []
    const refused: number[] = []
    await inTurns(list, 40, async (at) => {
      const ticket = await small.ticket(someVm(at), someUser(at))
      const both = await Promise.all([0, 1].map((n) => look(requested(someVm(at), ticket, n))))
      for (const each of both) {
        if (typeof each === 'number') refused.push(each)
        else viewers.push(each)
      }
    })
    try {
      assert.deepEqual([viewers.length, refused.length], [TICKETS, TICKETS])
      assert.deepEqual([...new Set(refused)], [403])
      assert.equal(await openRows(), TICKETS)
      // At the limits of every VM and user: one more is rejected.
      const more = await small.ticket(someVm(0), someUser(0))
      assert.equal(await look(requested(someVm(0), more)), 429)
    } finally {
      for (const viewer of viewers) viewer[Symbol.dispose]()
    }
    await until('all of them are closed', async () => (await openRows()) === 0, 60_000)
  },
)

test(
  'a VM that was powered off and on, or deleted and created again with the same name, has no screen for its old tickets',
  { skip },
  async () => {
    const again = await small.addVms(20)
    const gone = await small.addVms(20)
    const hidden = await small.addVms(20)
    const held = await inTurns([...again, ...gone, ...hidden], 8, async (vm, at) => ({
      vm,
      ticket: await small.ticket(vm, someUser(at)),
    }))
    await inTurns(again, 8, async (vm) => {
      await small.power(vm, 'off')
      await small.power(vm, 'on')
    })
    await inTurns(gone, 8, (vm) => small.remove(vm))
    const made = await small.addVms(gone.length)
    for (const [at, vm] of gone.entries()) {
      await sql`update vm set name = (select name from vm where id = ${vm}) where id = ${made[at]}`.execute(
        small.it.cloud.db,
      )
    }
    // The cloud does not know yet: the database accepts it, and the host does not.
    await inTurns(hidden, 8, async (vm) => {
      await small.power(vm, 'off', 'stays')
      await small.power(vm, 'on', 'stays')
    })
    const statuses = await inTurns(held, 8, ({ vm, ticket }, at) => look(requested(vm, ticket, at)))
    assert.deepEqual([...new Set(statuses)], [403])
    const later = await inTurns(gone, 8, (_, at) =>
      look(requested(made[at] as VmId, held[again.length + at]?.ticket ?? '', at)),
    )
    assert.deepEqual([...new Set(later)], [403])
    for (const vm of [...again, ...made, ...hidden]) {
      assert.equal((await small.hostOf(vm)).host.viewersOf(vm), 0)
    }
    await until(
      'screens rejected by the host are closed',
      async () => (await openRows()) === 0,
      60_000,
    )
  },
)

test('the ticket of one VM does not open the screen of another', { skip }, async () => {
  const [one, other] = [someVm(0), someVm(1)]
  const ticket = await small.ticket(one, someUser(0))
  assert.equal(await look(requested(other, ticket)), 403)
  assert.equal((await small.hostOf(other)).host.viewersOf(other), 0)
  assert.equal(await look(requested(one, ticket)), 403, 'and it is used up')
})

test('hostile Origins ask a hundred times each, and not one screen opens', { skip }, async () => {
  // The same mistakes about the console's own page and about the web UI, which may open screens too.
  const origins = [...new Set([...hostileOrigins(small.url), ...hostileOrigins(CLOUD)])]
  assert.equal(origins.length, 48)
  const first = await connectTo(consoleAt(0), small.authority.site)
  const session = await new Promise<Buffer>((resolve) => first.once('session', resolve))
  first.destroy()
  const vm = someVm(0)
  let ticket = ''
  for (const origin of origins) {
    ticket = await small.ticket(vm, someUser(0))
    const statuses = await inTurns(Array.from({ length: 100 }), 8, async () =>
      shake(await connectTo(consoleAt(0), small.authority.site, session), { vm, ticket, origin }),
    )
    assert.deepEqual([...new Set(statuses)], [403], origin)
  }
  assert.equal((await small.hostOf(vm)).host.viewersOf(vm), 0)
  // The last ticket was not used up by the rejected requests.
  using viewer = await mustLook({ ...requested(vm, ticket), origin: small.url })
  await viewer.echo('hello')
})

test('a page of the cloud’s web UI opens a screen with a ticket, once', { skip }, async () => {
  const vm = someVm(0)
  const ticket = await small.ticket(vm, someUser(0))
  using viewer = await mustLook({ ...requested(vm, ticket), origin: CLOUD })
  await viewer.echo('hello')
  assert.equal(await look({ ...requested(vm, ticket), origin: CLOUD }), 403, 'it is used up')
})

test(
  'a console’s certificate without a ticket opens no display, and sends no order to a host',
  { skip },
  async () => {
    const [served] = small.hosts
    assert.ok(served)
    const own = await small.authority.machine('console', 'console-1')
    const tls = { ...own, ca: small.authority.hosts }
    using host = connectHost({ address: '127.0.0.1', port: served.port, tls, hostId: served.id })
    const onIt = await vmsOn(served.id)
    const [vm] = onIt
    assert.ok(vm)
    const shown = () => onIt.filter((each) => served.host.viewersOf(each) > 0).length
    // A host is notified of the end of a screen later than the viewer: here, of the previous test.
    await until('earlier displays are released', () => shown() === 0)
    const { boot } = served.host.find(vm) ?? {}
    const forbidden = { kind: 'forbidden' }
    const signal = AbortSignal.timeout(20_000)
    for (const each of onIt.slice(0, 50)) {
      for (const ticket of ['', 'x', 'A'.repeat(43)]) {
        await assert.rejects(host.open(each, ticket, signal), forbidden)
      }
    }
    // The host rejects the certificate, for any request.
    const refused = (error: unknown) => isDistrust(error) && /a console may not/.test(error.message)
    const ticketHash = 'a'.repeat(64)
    await assert.rejects(host.arm({ vm, boot: boot ?? '', ticketHash }), refused)
    const order = { vm, task: 't' as never, key: 't:x', fencingToken: '999999', incarnation: '1' }
    await assert.rejects(host.step(order, { goal: 'power', to: 'off' }), refused)
    await assert.rejects(host.ping('1', '1'), refused)
    await assert.rejects(Array.fromAsync(host.follow('1', signal)), refused)
    await assert.rejects(Array.fromAsync(host.records(signal)), refused)
    assert.equal(served.host.find(vm)?.power, 'on')
    assert.equal(shown(), 0)
  },
)

const vmsOn = async (host: HostId): Promise<VmId[]> => {
  const { rows } = await sql<{ id: VmId }>`
    select id from vm where host = ${host} and status = 'POWERED_ON' and not closed`.execute(
    small.it.cloud.db,
  )
  return rows.map(({ id }) => id)
}

test('an invalid ticket gets the same response as a used one', { skip }, async () => {
  const vm = someVm(0)
  const used = await small.ticket(vm, someUser(0))
  using viewer = await mustLook(requested(vm, used))
  await viewer.echo('hello')
  const words = ['', 'x', 'A'.repeat(43), `${used}A`, used, '%00', "' or true --", 'A'.repeat(8000)]
  for (const ticket of words) {
    assert.equal(await look(requested(vm, encodeURIComponent(ticket))), 403, ticket.slice(0, 50))
  }
  await viewer.echo('still there')
})
