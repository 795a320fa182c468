// Thousands of networks in one zone: how long the first projection takes, what one more card costs, and what a host has to know that
// carries three edge gateways among thousands. PostgreSQL, the network server, OVN's databases, northd, and on the host ovn-controller
// and ovs-vswitchd are real; the other hosts are rows.
// Usage: node tests/bench/prove-networks.ts [--networks 30,300,3000] [--cards 5]
// Prints one line of JSON; fails if a goal is missed.
import assert from 'node:assert/strict'
import { mkdtempDisposable, rm } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

import { requirePrograms, until } from '@skerry/lab'

import { startDatabases } from '../../apps/cloud/test/cloud-database.ts'
import {
  openNetworkSite,
  readOvn,
  type NetworkServer,
  type ServerRun,
} from '../network/network-site.ts'
import { ovnProgramsOf } from '../network/ovn-programs.ts'
import { GATEWAY_HOST, growZone, VM_HOST } from './many-networks.ts'
import { processorSeconds } from './processor.ts'
import { residentMiB, startZoneHost } from './zone-host.ts'

const { values } = parseArgs({
  options: {
    networks: { type: 'string', default: '30,300,3000' },
    cards: { type: 'string', default: '5' },
  },
})
const goals = { fillSeconds: 30, cardMs: 50, flows: 3_000, hostMiB: 60 } as const
/** The time that a process has spent is counted in steps of 10 ms: the mean of this many cards is exact to half a millisecond. */
const MORE_CARDS = 20
const PATIENCE_MS = 3_600_000
const LOOK_MS = 100
const HOST_NETWORKS = 10

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
    const host = networks >= HOST_NETWORKS * 10 ? await measureHost(opened) : undefined
    console.error(JSON.stringify({ networks, host }))
    const card = await measureCard(run, opened)
    console.error(JSON.stringify({ networks, card }))
    const isMet =
      fill.serverSeconds + fill.northboundSeconds <= goals.fillSeconds &&
      card.serverMs <= goals.cardMs &&
      gateway.flows <= goals.flows &&
      (host?.sumMiB ?? 0) <= goals.hostMiB
    return { networks, fill, card, gateway, host, memoryMiB: memoryOf(run), isMet }
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

function optionsOf(name: string, token: string) {
  return { dir: join(dir.path, `host-${++hosts}`), name, site, data: join(server.data, token) }
}

/** A real host that carries three edge gateways. */
async function measureGateway(token: string) {
  await using host = await startZoneHost(optionsOf(GATEWAY_HOST, token))
  const { 'ovn-controller': controllerMiB } = await host.memory()
  return { flows: await host.flows(), controllerMiB, edgeGateways: 3 }
}

/** A real host with cards on ten networks: the memory of its three programs, which a host without networks does not run. */
async function measureHost(token: string) {
  await using host = await startZoneHost(optionsOf(VM_HOST, token))
  const empty = await host.memory()
  const nics = await site.cloud.db
    .selectFrom('nic')
    .innerJoin('vm', 'vm.id', 'nic.vm')
    .innerJoin('host', 'host.id', 'vm.host')
    .where('host.name', '=', VM_HOST)
    .distinctOn('nic.network')
    .select('nic.id')
    .limit(HOST_NETWORKS)
    .execute()
  assert.equal(nics.length, HOST_NETWORKS)
  for (const [at, { id }] of nics.entries()) await host.addPort(`card${at}`, id)
  await host.untilCurrent()
  const memoryMiB = await host.memory()
  const sumOf = (each: typeof memoryMiB) => Object.values(each).reduce((all, one) => all + one, 0)
  return {
    flows: await host.flows(),
    memoryMiB,
    sumMiB: sumOf(memoryMiB),
    withoutCardsMiB: sumOf(empty),
  }
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
  return Object.fromEntries(programs.map(([name, pid]) => [name, residentMiB(pid)]))
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10
}
