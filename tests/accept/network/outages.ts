// What guests notice while PostgreSQL is away, or another network server takes their zone from one that still lives.
import assert from 'node:assert/strict'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { until, type Lab, type LabCloud, type LabServer } from '@skerry/lab'

import type { CloudClient } from '../../../apps/cloud/test/cloud-client.ts'
import { labServer } from '../../../tools/lab/src/servers/server-process.ts'
import { signalTo } from '../../../tools/lab/src/system/processes.ts'
import type { Plugged } from '../link-probes.ts'
import type { ControlPlane } from './control-plane.ts'
import { WORLD } from './dual-guests.ts'
import { beginPings, type PingResult } from './guest-traffic.ts'

const PROGRAM = join(import.meta.dirname, '../../../apps/network/src/main.ts')
const WAIT_MS = 120_000
const LOOK_MS = 100
/** While PostgreSQL is away. */
const PINGS = 50
/** While another network server takes the zone: 40 s. */
const PINGS_OF_TAKEOVER = 400
/** How soon all hosts are connected to the network server that took the zone. */
const HOSTS_MS = 10_000

/** How long hosts took to connect to the network server that took the zone, and what guests noticed. */
interface Takeover {
  readonly tookMs: number
  readonly results: readonly PingResult[]
}

type Two = readonly [Plugged, Plugged]

interface Asked {
  readonly cloud: LabCloud
  readonly control: ControlPlane
  readonly client: CloudClient
}

/** PostgreSQL is killed while guests send packets: all arrive, OVN keeps what it has, and the API says that it cannot answer. */
export async function requireWithoutPostgres(
  { cloud, control, client }: Asked,
  [one, two]: Two,
): Promise<void> {
  const status = async () => (await client.ask('GET', '/api/query?type=edgeGateway')).status
  const keys = await control.keys()
  const pings = [await beginPings(one, two.address, PINGS), await beginPings(two, WORLD, PINGS)]
  await cloud.postgres.kill9()
  try {
    assert.equal(await status(), 503)
    for (const result of pings) assert.equal((await result()).lost, 0)
    assert.equal(await status(), 503)
    assert.deepEqual(await control.keys(), keys)
  } finally {
    await cloud.postgres.restart()
  }
  await until('the API answers', async () => (await status()) === 200, WAIT_MS, LOOK_MS)
}

/** The network server is suspended, with its databases alive: another one takes the zone, and all hosts follow. */
export async function requireTakenOver(lab: Lab, [one, two]: Two): Promise<Takeover> {
  const { cloud } = lab
  const first = cloud?.network?.pid
  assert.ok(cloud && first)
  const second = await addNetworkServer(lab, cloud)
  const pings = [
    await beginPings(one, two.address, PINGS_OF_TAKEOVER),
    await beginPings(two, WORLD, PINGS_OF_TAKEOVER),
  ]
  await second.start()
  signalTo(first, 'SIGSTOP')
  const remote = () => cloud.postgres.psql('select remote from network_zone', 'cloud')
  const isOpen = async () => (await remote()) === second.url
  await until('the zone is open elsewhere', isOpen, WAIT_MS, LOOK_MS)
  const opened = performance.now()
  const port = new URL(second.url.replace('ssl:', 'ssl://')).port
  const connected = async () => {
    const words = ['ss', '-Htn', 'state', 'established', `( sport = :${port} )`]
    const { stdout } = await lab.inWorld(words)
    return lab.hosts.every(({ address }) => stdout.includes(` ${address}:`))
  }
  await until('all hosts are connected to it', connected, WAIT_MS, LOOK_MS)
  const tookMs = performance.now() - opened
  const results: PingResult[] = []
  for (const end of pings) results.push(await end())
  for (const { lost, sent } of results) assert.ok(lost <= sent / 100, JSON.stringify(results))
  assert.ok(tookMs <= HOSTS_MS, `${tookMs} ms`)
  // It finds its zone taken.
  signalTo(first, 'SIGCONT')
  return { tookMs: Math.round(tookMs), results }
}

/** A second one, beside the first: at another port, with databases of its own. */
async function addNetworkServer({ dir, netns }: Lab, cloud: LabCloud): Promise<LabServer> {
  const name = 'network-2'
  const own = join(dir, name)
  await mkdir(own)
  const listen = (cloud.network?.url ?? '').replace('ssl:', '').replace(/\d+$/, '6643')
  const at = ['--host', listen.replace(/:.*/, ''), '--listen', listen, '--data', join(own, 'data')]
  await cloud.administer(['network-server', 'create', name, '--out', own, ...at])
  const config = join(own, 'network.json')
  const health = { address: '127.0.0.1', port: 9647 }
  const written = JSON.parse(await readFile(config, 'utf8')) as object
  await writeFile(config, JSON.stringify({ ...written, health }))
  return labServer({
    name,
    url: `ssl:${listen}`,
    dir: own,
    log: join(own, 'network.log'),
    command: [process.execPath, PROGRAM, '--config', config],
    ports: [],
    netns,
    outlives: false,
  })
}
