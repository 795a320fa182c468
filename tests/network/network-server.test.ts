// Goal: the network server of a zone keeps OVN's databases as PostgreSQL says, opens them to hosts only when they are complete, and
// can be killed at any moment. Method: the server as a process, with a real PostgreSQL, the databases of OVN and northd.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { rm, stat } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

import { reasonToSkip, until } from '@skerry/lab'
import { setOf } from '@skerry/ovsdb'
import { metricTable } from '@skerry/service'
import { ovnFiles } from '@skerry/site'

import { reconcileEdgeGroups } from '../../apps/cloud/src/reconcile/edge-groups.ts'
import { addHost, startDatabases } from '../../apps/cloud/test/cloud-database.ts'
import { seededRandom } from '../../tools/lab/src/system/seeded-random.ts'
import { openNetworkSite, readOvn, untilOpened } from './network-site.ts'

const skip = reasonToSkip('cloud', 'network') ?? false
const WAIT_MS = 60_000
const LOOK_MS = 10
const REVOKED_MS = 5_000
/** Of the server that is killed at any moment, most of them within this time. */
const STARTS = 50
const LATEST_KILL_MS = 1_200

let postgres: Awaited<ReturnType<typeof startDatabases>>
before(async () => {
  if (skip === false) postgres = await startDatabases()
})
after(() => postgres?.[Symbol.asyncDispose]())

async function accepts(port: number): Promise<boolean> {
  const socket = connect({ host: '127.0.0.1', port })
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

test('a change in PostgreSQL becomes rows of OVN, and hosts can find it', { skip }, async () => {
  await using site = await openNetworkSite(postgres)
  const server = await site.server('network-1')
  const run = server.start()
  const zone = await untilOpened(site)
  assert.equal(zone.remote, `ssl:127.0.0.1:${server.port}`)
  assert.equal(zone.opened, zone.fence)
  const at = ovnFiles(join(server.data, zone.fence))
  for (const socket of [at.northboundSocket, at.southboundSocket]) {
    assert.equal((await stat(socket)).mode & 0o777, 0o600)
  }
  const nic = await site.addNic(1)
  await site.untilProjected()
  const ports = await readOvn(server, zone.fence, 'northbound', 'Logical_Switch_Port', [
    'name',
    'addresses',
  ])
  assert.deepEqual(
    ports?.find(({ name }) => name === nic)?.['addresses'],
    '52:54:00:00:00:01 10.84.0.11',
  )
  // northd compiles it for hosts.
  await until(
    'the port is compiled',
    async () => {
      const bindings = await readOvn(server, zone.fence, 'southbound', 'Port_Binding', [
        'logical_port',
      ])
      return bindings?.some(({ logical_port: name }) => name === nic) ?? false
    },
    WAIT_MS,
  )
  const ready = await fetch(`http://127.0.0.1:${server.port + 1}/readyz`)
  assert.deepEqual(await ready.json(), { ready: true, failing: [] })
  const metrics = await (await fetch(`http://127.0.0.1:${server.port + 1}/metrics`)).text()
  assert.match(metrics, /^skerry_network_zone_open 1$/m)
  const shown = new Set([...metrics.matchAll(/^# TYPE (\S+) /gm)].map(([, name = '']) => name))
  const own = Object.entries(metricTable).filter(([, { of }]) =>
    of.some((each) => each === 'network'),
  )
  assert.deepEqual([...shown].toSorted(), own.map(([name]) => name).toSorted())
  await run.end('SIGTERM')
  assert.equal(run.child.exitCode, 0, run.log())
})

test('a unit that cannot be projected fails alone, with its reason', { skip }, async () => {
  await using site = await openNetworkSite(postgres)
  const server = await site.server('network-1')
  const run = server.start()
  const zone = await untilOpened(site)
  await site.addNic(1)
  await site.untilProjected()
  const { db } = site.cloud
  const nat = JSON.stringify([
    { id: 'a', kind: 'one-to-one', external: '198.51.100.1', internal: '10.84.0.11' },
  ])
  await db
    .updateTable('edge_gateway')
    .set({ nat } as never)
    .execute()
  const isolated = await db
    .insertInto('network')
    .values({
      org: site.cloud.principal.org,
      vdc: site.vdc,
      name: 'backend',
      kind: 'isolated',
      base: '167772160',
      prefix: 24,
      gateway: '10.0.0.1',
      key: 500,
    } as never)
    .returning('id')
    .executeTakeFirstOrThrow()
  await until(
    'the gateway has failed three times, and the network is projected',
    async () => {
      const changes = await db.selectFrom('network_change').selectAll().execute()
      return changes.length === 1 && changes[0]?.attempts === 3
    },
    WAIT_MS,
  )
  const [change] = await db.selectFrom('network_change').selectAll().execute()
  assert.equal(change?.kind, 'edge gateway')
  assert.match(change?.fault ?? '', /198\.51\.100\.1 is not an external address/)
  const switches = await readOvn(server, zone.fence, 'northbound', 'Logical_Switch', ['name'])
  assert.ok(switches?.some(({ name }) => name === isolated.id))
  // A server that fills new databases lacks the unit entirely, and says so.
  await run.end('SIGKILL')
  await rm(server.data, { recursive: true, force: true, maxRetries: 10 })
  server.start()
  const isFailing = async () => {
    const ready = await fetch(`http://127.0.0.1:${server.port + 1}/readyz`).catch(() => undefined)
    return (await ready?.text())?.includes('without 1 units that failed') ?? false
  }
  await until('it says what is missing', isFailing, WAIT_MS)
  await db
    .updateTable('edge_gateway')
    .set({ nat: '[]' } as never)
    .execute()
  await site.untilProjected()
})

test(
  'a stopped server releases its zone to another, which makes the same projection',
  { skip },
  async () => {
    await using site = await openNetworkSite(postgres)
    const [first, second] = [await site.server('network-1'), await site.server('network-2')]
    const run = first.start()
    const zone = await untilOpened(site)
    const nics = [await site.addNic(1), await site.addNic(2)]
    await site.untilProjected()
    second.start()
    const keysIn = async (server: typeof first, token: string) => {
      const rows = await readOvn(server, token, 'southbound', 'Port_Binding', [
        'logical_port',
        'tunnel_key',
      ])
      return rows
        ?.map((row) => `${String(row['logical_port'])} ${String(row['tunnel_key'])}`)
        .toSorted()
    }
    await until(
      'both cards are compiled',
      async () => {
        const keys = (await keysIn(first, zone.fence)) ?? []
        return nics.every((nic) => keys.some((key) => key.startsWith(nic)))
      },
      WAIT_MS,
    )
    const before = await keysIn(first, zone.fence)
    await run.end('SIGTERM')
    const after = await untilOpened(site, zone.opened)
    assert.equal(after.holder, 'network-2')
    assert.ok(BigInt(after.opened) > BigInt(zone.opened))
    assert.deepEqual(await keysIn(second, after.opened), before)
    // What only hosts would write is there before the first of them connects.
    const hosts = await readOvn(second, after.opened, 'southbound', 'Chassis', ['name'])
    assert.deepEqual(hosts, [{ name: site.cloud.host }])
    const bound = await readOvn(second, after.opened, 'southbound', 'Port_Binding', [
      'logical_port',
      'chassis',
    ])
    const places = bound?.filter(({ logical_port: name }) => nics.includes(String(name)))
    assert.deepEqual(
      places?.map(({ chassis }) => setOf(chassis).length),
      [1, 1],
    )
  },
)

test('a revoked host is disconnected within 5 s, and its tunnels end', { skip }, async () => {
  await using site = await openNetworkSite(postgres)
  const server = await site.server('network-1')
  server.start()
  const { opened } = await untilOpened(site)
  const chassis = () => readOvn(server, opened, 'southbound', 'Chassis', ['name'])
  const { db, host } = site.cloud
  assert.deepEqual(await chassis(), [{ name: host }])
  await using connection = await server.connect()
  let isClosed = false
  void connection.closed.then(() => (isClosed = true))
  await db.updateTable('host').set({ state: 'revoked' }).where('id', '=', host).execute()
  await until('its connection has ended', () => isClosed, REVOKED_MS)
  assert.deepEqual(await chassis(), [])
  // The others connect again at once.
  await until('it is open again', () => accepts(server.port), WAIT_MS)
  await using again = await server.connect()
  assert.ok(await again.select('OVN_Southbound', 'SB_Global', ['nb_cfg']))
})

test('when hosts join and leave, edge gateways have others to carry them', { skip }, async () => {
  await using site = await openNetworkSite(postgres)
  const server = await site.server('network-1')
  server.start()
  const { opened } = await untilOpened(site)
  await site.addNic(1)
  const { db, host } = site.cloud
  const carriers = async () => {
    const columns = ['chassis_name', 'priority']
    const rows = await readOvn(server, opened, 'northbound', 'Gateway_Chassis', columns)
    const sorted = rows?.toSorted(
      (one, other) => Number(other['priority']) - Number(one['priority']),
    )
    return sorted?.map(({ chassis_name: name }) => name)
  }
  await site.untilProjected()
  assert.deepEqual(await carriers(), [host])
  const second = await addHost(db, 'host-2')
  const ready = { overlay: 'ready' as const, uplinks: ['out'], tunnel_address: '192.0.2.8' }
  await db.updateTable('host').set(ready).where('id', '=', second).execute()
  assert.equal(await reconcileEdgeGroups(db), 1)
  await site.untilProjected()
  assert.deepEqual(await carriers(), [host, second])
  await db.updateTable('host').set({ state: 'revoked' }).where('id', '=', host).execute()
  assert.equal(await reconcileEdgeGroups(db), 1)
  await site.untilProjected()
  assert.deepEqual(await carriers(), [second])
})

test(
  'a server that was suspended finds its zone taken, and changes nothing',
  { skip },
  async () => {
    await using site = await openNetworkSite(postgres)
    const [first, second] = [await site.server('network-1'), await site.server('network-2')]
    const run = first.start()
    const zone = await untilOpened(site)
    run.child.kill('SIGSTOP')
    second.start()
    const after = await untilOpened(site, zone.opened)
    // Before it continues: it may project what it had read, until it notices.
    const nic = await site.addNic(1)
    await site.untilProjected()
    run.child.kill('SIGCONT')
    const figures = `http://127.0.0.1:${first.port + 1}/metrics`
    await until(
      'it has noticed',
      async () => (await (await fetch(figures)).text()).includes('skerry_network_zone_open 0'),
      WAIT_MS,
    )
    assert.equal((await site.zone()).opened, after.opened)
    // Its databases live on with what was true: hosts that have not heard of the newer ones still read them.
    const names = async (server: typeof first, token: string) =>
      (await readOvn(server, token, 'northbound', 'Logical_Switch_Port', ['name']))?.map(
        ({ name }) => name,
      )
    assert.equal((await names(first, zone.opened))?.includes(nic), false)
    assert.equal((await names(second, after.opened))?.includes(nic), true)
  },
)

test('a server that cannot serve its zone leaves it to another', { skip }, async () => {
  await using site = await openNetworkSite(postgres)
  const [first, second] = [await site.server('network-1'), await site.server('network-2')]
  const blocker = createServer().listen(first.port, '127.0.0.1')
  await once(blocker, 'listening')
  try {
    const run = first.start()
    const why = `port ${first.port} is in use`
    await until('it has tried', () => run.log().includes(why), WAIT_MS)
    second.start()
    const { holder } = await untilOpened(site)
    assert.equal(holder, 'network-2')
  } finally {
    blocker.close()
  }
})

test(
  'killed at any moment and started again: hosts never meet a database that is not complete',
  { skip },
  async () => {
    await using site = await openNetworkSite(postgres)
    const server = await site.server('network-1')
    let run = server.start()
    const { fence } = await untilOpened(site)
    const nics: string[] = []
    for (let place = 1; place <= 20; place++) nics.push(await site.addNic(place))
    await site.untilProjected()
    const isComplete = async () => {
      const bindings = await readOvn(server, fence, 'southbound', 'Port_Binding', ['logical_port'])
      const names = new Set(bindings?.map(({ logical_port: name }) => String(name)))
      return bindings === undefined ? undefined : nics.every((nic) => names.has(nic))
    }
    await until('all cards are compiled', async () => (await isComplete()) === true, WAIT_MS)
    const watch = new AbortController()
    let opened = 0
    const incomplete: number[] = []
    const watching = (async () => {
      for (let look = 0; !watch.signal.aborted; look++) {
        // Leaves the processor to the server.
        await sleep(LOOK_MS)
        if (!(await accepts(server.port))) continue
        opened++
        // Undefined: it was killed between the two questions.
        if ((await isComplete()) === false) incomplete.push(look)
      }
    })()
    const { below } = seededRandom(19)
    for (let round = 0; round < STARTS; round++) {
      await run.end('SIGKILL')
      // With and without its databases.
      if (round % 3 === 0) {
        // A tool that it had just started may still write there.
        await rm(server.data, { recursive: true, force: true, maxRetries: 10 })
      }
      run = server.start()
      // On a slow machine no moment would be after the opening.
      const before = opened
      if (round % 5 === 4) await until('it was met open', () => opened > before, WAIT_MS)
      else await sleep(below(LATEST_KILL_MS))
    }
    // The card that follows is not there before it is projected.
    watch.abort()
    await watching
    assert.ok(opened > 0)
    assert.deepEqual(incomplete, [])
    nics.push(await site.addNic(21))
    await site.untilProjected()
    await until('it is open again', () => accepts(server.port), WAIT_MS)
    const zone = await site.zone()
    assert.equal(zone.opened, fence, 'the same server has the same token')
    const ports = await readOvn(server, fence, 'northbound', 'Logical_Switch_Port', ['name'])
    assert.ok(nics.every((nic) => ports?.some(({ name }) => name === nic)))
  },
)
