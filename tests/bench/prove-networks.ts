// Thousands of networks in one zone: how long the first projection takes, what one more card costs, and what a host has to know that
// carries three edge gateways among thousands. PostgreSQL, the network server, OVN's databases, northd, and on the host ovn-controller
// and ovs-vswitchd are real; the other hosts are rows.
// Usage: node tests/bench/prove-networks.ts [--networks 30,300,3000] [--cards 5]
// Prints one line of JSON; fails if a goal is missed.
import { readFileSync } from 'node:fs'
import { mkdtempDisposable, rm } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

import { requirePrograms, startHost, until } from '@skerry/lab'
import { Ovsdb } from '@skerry/ovsdb'
import { ovnFiles } from '@skerry/site'

import { startDatabases } from '../../apps/cloud/test/cloud-database.ts'
import {
  openNetworkSite,
  readOvn,
  type NetworkServer,
  type ServerRun,
} from '../network/network-site.ts'
import { ovnProgramsOf } from '../network/ovn-programs.ts'
import { GATEWAY_HOST, growZone } from './many-networks.ts'
import { processorSeconds } from './processor.ts'

const { values } = parseArgs({
  options: {
    networks: { type: 'string', default: '30,300,3000' },
    cards: { type: 'string', default: '5' },
  },
})
const goals = { fillSeconds: 30, cardMs: 50, flows: 3_000 } as const
/** The time that a process has spent is counted in steps of 10 ms: the mean of this many cards is exact to half a millisecond. */
const MORE_CARDS = 20
const PATIENCE_MS = 3_600_000
const LOOK_MS = 100

requirePrograms('cloud')
requirePrograms('network')
await using dir = await mkdtempDisposable(join(tmpdir(), 'networks-'))
await using postgres = await startDatabases()
await using site = await openNetworkSite(postgres)
const server = await site.server('network-1')

let hosts = 0
const measured = []
for (const networks of values.networks.split(',').map(Number)) {
  await growZone(site, networks, Number(values.cards))
  measured.push(await measure(networks))
}
const missed = measured.filter(({ isMet }) => !isMet)
console.log(JSON.stringify({ proof: 'networks', goals, measured, loadAverage: loadavg()[0] }))
if (missed.length > 0) process.exitCode = 1

async function measure(networks: number) {
  await rm(server.data, { recursive: true, force: true })
  const run = server.start()
  run.child.stderr?.pipe(process.stderr)
  const began = performance.now()
  try {
    const isWritten = () => run.log().includes('northd compiles them')
    await until('the northbound database is written', isWritten, PATIENCE_MS, LOOK_MS)
    const written = performance.now()
    const spent = spentBy(run)
    // A restarted server has the same token, so the row of the zone does not change when it is open again.
    const isOpen = () => run.log().includes('the zone is open')
    await until('the zone is open', isOpen, PATIENCE_MS, LOOK_MS)
    const { opened } = await site.zone()
    const fill = {
      writtenSeconds: rounded((written - began) / 1000),
      serverSeconds: rounded(spent.server),
      northboundSeconds: rounded(spent.northbound),
      openSeconds: rounded((performance.now() - began) / 1000),
      northdSeconds: rounded(spentBy(run).northd),
    }
    console.error(JSON.stringify({ networks, fill }))
    const gateway = await measureGateway(opened)
    console.error(JSON.stringify({ networks, gateway }))
    const card = await measureCard(run, opened)
    console.error(JSON.stringify({ networks, card }))
    const isMet =
      fill.serverSeconds + fill.northboundSeconds <= goals.fillSeconds &&
      card.serverMs <= goals.cardMs &&
      gateway.flows <= goals.flows
    return { networks, fill, card, gateway, memoryMiB: memoryOf(run), isMet }
  } finally {
    await run.end('SIGTERM')
  }
}

/** One more card until it is compiled, by processor time; then many in a row, for what each costs the network server. */
async function measureCard(run: ServerRun, token: string) {
  const before = spentBy(run)
  const nic = await site.addNic(1)
  await until('the card is compiled', () => isCompiled(server, token, nic), PATIENCE_MS, LOOK_MS)
  const compiled = spentBy(run)
  for (let at = 2; at <= MORE_CARDS; at++) {
    await site.addNic(at)
    await site.untilProjected()
  }
  const after = spentBy(run)
  await site.removeNics()
  await site.untilProjected()
  return {
    serverMs: rounded(((after.server - before.server) * 1000) / MORE_CARDS),
    northboundMs: rounded(((after.northbound - before.northbound) * 1000) / MORE_CARDS),
    northdMs: rounded((compiled.northd - before.northd) * 1000),
  }
}

async function isCompiled(at: NetworkServer, token: string, nic: string): Promise<boolean> {
  const ports = await readOvn(at, token, 'southbound', 'Port_Binding', ['logical_port'])
  return ports?.some(({ logical_port: name }) => name === nic) ?? false
}

/**
 * A real host that carries three edge gateways. It reads the database by its Unix socket, which is there before the database is
 * complete: so it is a new host each time.
 */
async function measureGateway(token: string) {
  await using host = await startHost({ dir: join(dir.path, `host-${++hosts}`), network: true })
  const onHost = async (...command: string[]): Promise<string> => {
    const { code, stdout, stderr } = await host.run(command)
    if (code !== 0) throw new Error(`${command.join(' ')} failed: ${stderr.trim()}`)
    return stdout.trim()
  }
  const files = ovnFiles(join(server.data, token))
  const own = await site.cloud.db
    .selectFrom('host')
    .select('id')
    .where('name', '=', GATEWAY_HOST)
    .executeTakeFirstOrThrow()
  const joined = {
    'system-id': own.id,
    'ovn-remote': `unix:${files.southboundSocket}`,
    'ovn-encap-type': 'geneve',
    'ovn-encap-ip': '192.0.2.7',
    'ovn-bridge-mappings': 'out:sk-out',
    'ovn-monitor-all': 'false',
  }
  const words = Object.entries(joined).map(([key, value]) => `external_ids:${key}="${value}"`)
  await onHost('ovs-vsctl', '--may-exist', 'add-br', 'sk-out')
  await onHost('ovs-vsctl', 'set', 'bridge', 'sk-out', 'datapath_type=netdev')
  await onHost('ovs-vsctl', 'set', 'Open_vSwitch', '.', ...words)
  await untilHostIsCurrent(files, own.id)
  const said = await onHost('ovs-ofctl', 'dump-aggregate', 'br-int')
  // A pid of the host's own namespace.
  const pid = await onHost('cat', '/run/ovn/ovn-controller.pid')
  return {
    flows: Number(/flow_count=(\d+)/.exec(said)?.[1]),
    controllerMiB: residentMiB(await onHost('cat', `/proc/${pid}/status`)),
    edgeGateways: 3,
  }
}

/** The host confirms that it has everything which the northbound database had when it was asked. */
async function untilHostIsCurrent(
  { northboundSocket, southboundSocket }: ReturnType<typeof ovnFiles>,
  id: string,
): Promise<void> {
  // Both are silent while they work on a large transaction.
  const patient = { timeoutMs: PATIENCE_MS, probeMs: 0 }
  await using northbound = await Ovsdb.open({ path: northboundSocket }, patient)
  const results = await northbound.transact('OVN_Northbound', [
    { op: 'mutate', table: 'NB_Global', where: [], mutations: [['nb_cfg', '+=', 1]] },
    { op: 'select', table: 'NB_Global', where: [], columns: ['nb_cfg'] },
  ])
  const asked = Number(results[1]?.rows?.[0]?.['nb_cfg'])
  await using southbound = await Ovsdb.open({ path: southboundSocket }, patient)
  const isCurrent = async () => {
    const columns = ['name', 'nb_cfg']
    const rows = await southbound.select('OVN_Southbound', 'Chassis_Private', columns)
    return rows.some(({ name, nb_cfg: seen }) => name === id && Number(seen) >= asked)
  }
  await until('the host is current', isCurrent, PATIENCE_MS, LOOK_MS)
}

/** A network server and the programs of OVN, by their names. */
function programsOf({ child }: ServerRun): Readonly<Record<string, number>> {
  const server = child.pid ?? 0
  return { server, ...ovnProgramsOf(server) }
}

function spentBy(run: ServerRun) {
  const pids = programsOf(run)
  const of = (name: string) => (pids[name] === undefined ? 0 : processorSeconds(pids[name]))
  return { server: of('server'), northbound: of('northbound'), northd: of('northd') }
}

function memoryOf(run: ServerRun): Readonly<Record<string, number>> {
  const programs = Object.entries(programsOf(run))
  const status = (pid: number) => readFileSync(`/proc/${pid}/status`, 'utf8')
  return Object.fromEntries(programs.map(([name, pid]) => [name, residentMiB(status(pid))]))
}

function residentMiB(status: string): number {
  return Math.round(Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1024)
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10
}
