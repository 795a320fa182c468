// Goal: a dead process affects only what depends on it; every viewer gets the reason, and everything emits its event. Method: two
// console processes behind a balancer over a real PostgreSQL, open screens through both, and one kill at a time.
import assert from 'node:assert/strict'
import { request } from 'node:https'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

import { reasonWithoutRoot, until } from '@skerry/lab'
import type { VmId } from '@skerry/vm'
import { sql } from 'kysely'

import type { User } from '../../apps/cloud/test/console-database.ts'
import { startTicketCell } from './cell.ts'
import { startSmallConsole, type SmallConsole } from './small-console.ts'
import { look, mustLook, type Viewer } from './viewer.ts'

const skip = reasonWithoutRoot('cloud') ?? false
/** More than the ten seconds after which a console that does not renew counts as lost. */
const AWAY_MS = 11_000
let small: SmallConsole
let vms: VmId[]
let users: User[]
before(async () => {
  if (skip) return
  // Long enough that a slow machine has read some of a running screen.
  small = await startSmallConsole({ hosts: 2, drainSeconds: 8 })
  vms = await small.addVms(10)
  users = await small.users(10)
})
after(async () => {
  await small?.[Symbol.asyncDispose]()
})

const vmAt = (at: number): VmId => vms[at] ?? ('' as VmId)
const userAt = (at: number): User => users[at] as User

/** Through the balancer, or through one process. */
async function see(at: number, url = small.url): Promise<Viewer> {
  const ticket = await small.ticket(vmAt(at), userAt(at))
  return mustLook({ url, ca: small.authority.site, vm: vmAt(at), ticket })
}

/** Views a screen for a moment. The database records its end later than the viewer, and counts it for the next ticket until then. */
async function glance(at: number, text: string): Promise<void> {
  const before = await openOf(at)
  {
    using viewer = await see(at)
    await viewer.echo(text)
  }
  await until('its end is recorded', async () => (await openOf(at)) <= before, 30_000)
}

const openOf = async (at: number): Promise<number> => {
  const { rows } = await sql<{ open: number }>`
    select count(*)::integer as open from console where vm = ${vmAt(at)} and ended_at is null`.execute(
    small.it.cloud.db,
  )
  return rows[0]?.open ?? 0
}

interface Closed {
  readonly by: string
  readonly from: string
  readonly via: string
  readonly opened: string
  readonly closed: string
  readonly bytes: number
  readonly why: string
}
const eventsOf = async (kind: string, vm: VmId): Promise<Closed[]> => {
  const { rows } = await sql<{ details: Closed }>`
    select details from event where kind = ${kind} and vm = ${vm} order by seq`.execute(
    small.it.cloud.db,
  )
  return rows.map(({ details }) => details)
}

/** The screen of this VM was closed for this reason. */
const closedBecause = async (vm: VmId, why: string): Promise<Closed> =>
  until(
    `the event should have the reason: ${why}`,
    async () => (await eventsOf('console.closed', vm)).find((each) => each.why === why),
    30_000,
  )

test(
  'every screen emits an event with its user, address, start, end and bytes',
  { skip },
  async () => {
    const viewer = await see(0)
    await viewer.echo('x'.repeat(1000))
    const [opened] = await eventsOf('console.opened', vmAt(0))
    const { by, from, via } = opened ?? assert.fail('no event was emitted')
    assert.deepEqual([by, from], [userAt(0).user, '127.0.0.1'])
    assert.match(via, /^console-[12]$/)
    viewer.socket.close()
    await viewer.closed
    const end = await closedBecause(vmAt(0), 'the viewer closed it')
    assert.deepEqual([end.by, end.via], [by, via])
    assert.equal(end.bytes, viewer.bytes + 1000 + 14)
    assert.ok(Date.parse(end.opened) < Date.parse(end.closed))
  },
)

test(
  'a VM that is powered off, and a user who is disabled, close the screen with a message',
  { skip },
  async () => {
    const off = await see(1)
    const lost = await see(2)
    await small.power(vmAt(1), 'off')
    assert.deepEqual(await off.closed, { code: 4001, reason: 'the VM was powered off' })
    await closedBecause(vmAt(1), 'vm-powered-off')
    await sql`update account set disabled = true where id = ${userAt(2).account}`.execute(
      small.it.cloud.db,
    )
    assert.deepEqual(await lost.closed, { code: 4003, reason: 'the user was disabled' })
    await closedBecause(vmAt(2), 'user-disabled')
    const { host } = await small.hostOf(vmAt(2))
    // The host is notified over another connection than the viewer.
    await until('its display is released', () => host.viewersOf(vmAt(2)) === 0, 30_000)
  },
)

test('killing a cell closes no screen', { skip }, async () => {
  await using cell = await startTicketCell(small)
  const { ticket } = await cell.ticket(vmAt(3), userAt(3))
  using viewer = await mustLook({
    url: small.url,
    ca: small.authority.site,
    vm: vmAt(3),
    ticket,
  })
  await viewer.echo('before')
  await cell.kill()
  await viewer.echo('after')
})

test(
  'PostgreSQL restarts under open screens, and they continue',
  { skip, timeout: 120_000 },
  async () => {
    const viewers = [await see(4, small.consoles[0]?.url), await see(5, small.consoles[1]?.url)]
    await small.postgres.restart()
    for (const viewer of viewers) await viewer.echo('behind the restart')
    await until('they are renewed again', bothRenewed)
    for (const viewer of viewers) {
      await viewer.echo('and after it')
      viewer.socket.close()
    }
    await closedBecause(vmAt(5), 'the viewer closed it')
  },
)

test(
  'PostgreSQL is away for longer than a console may be silent, and the screens of all processes continue',
  { skip, timeout: 120_000 },
  async () => {
    const viewers = [await see(4, small.consoles[0]?.url), await see(5, small.consoles[1]?.url)]
    await small.postgres.stop()
    const ticket = 'A'.repeat(43)
    const unsure = { url: small.url, ca: small.authority.site, vm: vmAt(4), ticket }
    assert.equal(await look(unsure), 503, 'no ticket can be checked')
    await sleep(AWAY_MS)
    for (const viewer of viewers) await viewer.echo('without it')
    await small.postgres.restart()
    await until('both processes have renewed', bothRenewed, 30_000)
    // Longer than the time after which it counts as lost.
    await sleep(AWAY_MS)
    for (const viewer of viewers) {
      await viewer.echo('and with it')
      viewer.socket.close()
    }
    await closedBecause(vmAt(4), 'the viewer closed it')
  },
)

test('a lost host closes its screens with a message, and no others', { skip }, async () => {
  const [first, second] = small.hosts
  const on = async (id: string | undefined) => {
    const { rows } = await sql<{ id: VmId }>`
      select id from vm where host = ${id} and status = 'POWERED_ON' order by id`.execute(
      small.it.cloud.db,
    )
    // Their ids may have any order, and the first three are used up: one is off, and the user of another is disabled.
    return rows.map(({ id: vm }) => vms.indexOf(vm)).findLast((at) => at > 2) ?? -1
  }
  const [near, far] = [await on(first?.id), await on(second?.id)]
  using stays = await see(near)
  const lost = await see(far)
  await second?.die()
  assert.deepEqual(await lost.closed, { code: 1011, reason: 'the link to the host was lost' })
  await closedBecause(vmAt(far), 'the link to the host was lost')
  await stays.echo('here')
})

test(
  'a console process is killed: the screens of the other continue, new ones open, and those it showed are closed with an event',
  { skip, timeout: 120_000 },
  async () => {
    const vm = await oneOnFirst()
    const [first, second] = small.consoles
    const lost = await see(vm, first?.url)
    using stays = await see(vm, second?.url)
    await lost.echo('x'.repeat(1000))
    const isWritten = async () => {
      const { rows } = await sql<{ bytes: string }>`
        select bytes from console where via = ${first?.name} and bytes > 1000`.execute(
        small.it.cloud.db,
      )
      return rows.length === 1
    }
    await until('its bytes are recorded', isWritten, 30_000)
    await first?.kill()
    assert.equal((await lost.closed).code, 1006)
    await stays.echo('still here')
    for (let n = 0; n < 10; n += 1) await glance(vm, 'new')
    // A page whose process is gone requests the same address again, and another process answers.
    assert.equal(await statusOf(`${small.url}/console`), 200)
    const end = await closedBecause(vmAt(vm), 'process-lost')
    assert.equal(end.via, first?.name)
    assert.ok(end.bytes > 1000)
    await stays.echo('to the end')
    await first?.start()
    using back = await see(vm, first?.url)
    await back.echo('back')
  },
)

test(
  'a stopping console accepts no new screens, keeps open ones for a while, notifies them and ends; the other takes over',
  { skip, timeout: 120_000 },
  async () => {
    const vm = await oneOnFirst()
    const [first] = small.consoles
    const viewer = await see(vm, first?.url)
    first?.signal('SIGTERM')
    await until('its port is closed', async () => (await statusOf(`${first?.url}/health`)) === 0)
    await viewer.echo('a while')
    for (let n = 0; n < 6; n += 1) await glance(vm, 'elsewhere')
    assert.deepEqual(await viewer.closed, {
      code: 4008,
      reason: 'the console stops here: open the screen again',
    })
    assert.equal(await first?.ended(), 0)
    const reason = 'the console stops here: open the screen again'
    assert.equal((await closedBecause(vmAt(vm), reason)).via, first?.name)
    await first?.start()
  },
)

test(
  'no output of a console contains a ticket, and only its own paths are answered',
  { skip },
  async () => {
    const vm = await oneOnFirst()
    const ticket = await small.ticket(vmAt(vm), userAt(vm))
    const at = { url: small.consoles[0]?.url ?? '', ca: small.authority.site, vm: vmAt(vm), ticket }
    {
      using viewer = await mustLook(at)
      await viewer.echo('hello')
    }
    assert.equal(await look(at), 403)
    assert.equal(
      await statusOf(`${at.url}/console?${encodeURIComponent(`mks://x/vm-y?ticket=${ticket}`)}`),
      200,
    )
    const paths = [
      '/',
      '/console/',
      '/screen',
      '/metrics',
      '/api/versions',
      '//evil.example',
      '/console/..%2f..%2fetc/passwd',
      '/console/-/x/../../x',
    ]
    for (const path of paths)
      assert.equal(await statusOf(`${at.url}${path}?ticket=${ticket}`), 404, path)
    for (const process of small.consoles) {
      const log = await process.log()
      assert.ok(!log.includes(ticket) && !log.includes('ticket='), log)
    }
  },
)

/** Since PostgreSQL was started. */
async function bothRenewed(): Promise<boolean> {
  const { rows } = await sql<{ count: string }>`
    select count(*) from console where renewed_at > pg_postmaster_start_time()`.execute(
    small.it.cloud.db,
  )
  return Number(rows[0]?.count) === 2
}

/** A VM on the host that no test has killed. */
async function oneOnFirst(): Promise<number> {
  const { rows } = await sql<{ id: VmId }>`
    select id from vm where host = ${small.hosts[0]?.id} and status = 'POWERED_ON' order by id`.execute(
    small.it.cloud.db,
  )
  const at = rows.map(({ id }) => vms.indexOf(id)).find((each) => each > 2)
  if (at === undefined) throw new Error('no VM is left')
  return at
}

/** 0 if there is no response. */
async function statusOf(url: string): Promise<number> {
  const requested = request(url, { ca: small.authority.site, agent: false })
  const answered = Promise.withResolvers<number>()
  requested.once('response', (response) => {
    response.resume()
    answered.resolve(response.statusCode ?? 0)
  })
  requested.on('error', () => answered.resolve(0))
  requested.end()
  return answered.promise
}
