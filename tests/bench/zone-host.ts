// A real host of a zone, with Open vSwitch and OVN's controller: what it has to know, and the memory that this takes.
import { readFileSync } from 'node:fs'

import { startHost, until } from '@skerry/lab'
import { Ovsdb } from '@skerry/ovsdb'
import { ovnFiles } from '@skerry/site'

import type { NetworkSite } from '../network/network-site.ts'

const PATIENCE_MS = 3_600_000
const LOOK_MS = 100
const DAEMONS = ['ovsdb-server', 'ovs-vswitchd', 'ovn-controller'] as const

export interface ZoneHost extends AsyncDisposable {
  /** Adds a card as libvirt would: a port with the id of the card. */
  addPort(name: string, nic: string): Promise<void>
  /** Waits until the host confirms that it has everything which the northbound database has now. */
  untilCurrent(): Promise<void>
  /** Flows of its bridge for OVN. */
  flows(): Promise<number>
  /** MiB of memory that each of its programs has. */
  memory(): Promise<Readonly<Record<(typeof DAEMONS)[number], number>>>
}

export interface ZoneHostOptions {
  readonly dir: string
  /** The host of the cloud that it stands for. */
  readonly name: string
  readonly site: NetworkSite
  /** The files of OVN's databases. */
  readonly data: string
}

/** It reads the southbound database by its Unix socket, which is there before the database is complete. */
export async function startZoneHost({ dir, name, site, data }: ZoneHostOptions): Promise<ZoneHost> {
  const files = ovnFiles(data)
  const { id, tunnel_address: tunnel } = await site.cloud.db
    .selectFrom('host')
    .select(['id', 'tunnel_address'])
    .where('name', '=', name)
    .executeTakeFirstOrThrow()
  await using opened = new AsyncDisposableStack()
  const host = opened.use(await startHost({ dir, network: true }))
  const onHost = async (...command: string[]): Promise<string> => {
    const { code, stdout, stderr } = await host.run(command)
    if (code !== 0) throw new Error(`${command.join(' ')} failed: ${stderr.trim()}`)
    return stdout.trim()
  }
  const joined = {
    'system-id': id,
    'ovn-remote': `unix:${files.southboundSocket}`,
    'ovn-encap-type': 'geneve',
    'ovn-encap-ip': tunnel ?? '',
    'ovn-bridge-mappings': 'out:sk-out',
    'ovn-monitor-all': 'false',
  }
  const words = Object.entries(joined).map(([key, value]) => `external_ids:${key}="${value}"`)
  await onHost('ovs-vsctl', '--may-exist', 'add-br', 'sk-out')
  await onHost('ovs-vsctl', 'set', 'bridge', 'sk-out', 'datapath_type=netdev')
  await onHost('ovs-vsctl', 'set', 'Open_vSwitch', '.', ...words)
  const untilCurrent = () => untilHostIsCurrent(files, id)
  await untilCurrent()
  const all = opened.move()
  return {
    untilCurrent,
    async addPort(port, nic) {
      const ids = `external_ids:iface-id=${nic}`
      await onHost(
        'ovs-vsctl',
        'add-port',
        'br-int',
        port,
        '--',
        'set',
        'interface',
        port,
        'type=internal',
        ids,
      )
    },
    async flows() {
      const said = await onHost('ovs-ofctl', 'dump-aggregate', 'br-int')
      return Number(/flow_count=(\d+)/.exec(said)?.[1])
    },
    async memory() {
      const pids = host.openVswitch?.pids ?? {}
      const of = (daemon: (typeof DAEMONS)[number]) => [daemon, residentMiB(pids[daemon] ?? 0)]
      return Object.fromEntries(DAEMONS.map(of))
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

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

export function residentMiB(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Math.round(Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1024)
}
