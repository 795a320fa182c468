// Open vSwitch and OVN's controller on a host of the lab, as the units of Debian's packages start them.
// Packets are forwarded by ovs-vswitchd itself, because not every machine's kernel has the module. Such a switch must own the card of
// the tunnels: eth0 is a port of the bridge br-phy, which has the host's address. It also forwards packets without completing their
// checksums, so offloads are off at every card that is plugged into one.
import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'

import { killAndWait } from '../system/processes.ts'
import type { Outcome } from '../system/run.ts'
import { pidOfDaemon } from './pid-file.ts'

const SCHEMA = '/usr/share/openvswitch/vswitch.ovsschema'
const SOCKET = 'unix:/run/openvswitch/db.sock'
/** The bridge of the network between hosts. */
const UNDERLAY = 'br-phy'

/** The daemons, each with the folder of its pid file in /run. */
const daemons = {
  'ovsdb-server': 'openvswitch',
  'ovs-vswitchd': 'openvswitch',
  'ovn-controller': 'ovn',
} as const
export type SwitchDaemon = keyof typeof daemons

/** A host as far as a switch on it needs it. */
interface SwitchHost {
  readonly name: string
  readonly dir: string
  readonly init: number
  run(command: readonly string[]): Promise<Outcome>
}

export interface SwitchReport {
  /** The socket of the host's own database, as the machine sees it. */
  readonly socket: string
  /** The pids of the daemons that run. */
  readonly pids: Readonly<Partial<Record<SwitchDaemon, number>>>
}

/** The host's /etc/openvswitch and /var/lib/openvswitch; it exists if the host has a switch. */
const directoryOf = (dir: string): string => join(dir, 'openvswitch')

export const hasSwitch = ({ dir }: { readonly dir: string }): boolean =>
  existsSync(directoryOf(dir))

/** Gives a host that is off a switch, from its next start on. */
export async function wantSwitch({ dir }: { readonly dir: string }): Promise<void> {
  await mkdir(directoryOf(dir), { recursive: true })
}

export function readSwitch(host: SwitchHost): SwitchReport {
  const names = Object.keys(daemons) as SwitchDaemon[]
  const pids = names.map((name) => [name, pidOf(host, name)] as const)
  return {
    socket: join(host.dir, 'run', 'openvswitch', 'db.sock'),
    pids: Object.fromEntries(pids.filter(([, pid]) => pid !== undefined)),
  }
}

/** Starts the daemons that do not run. `address` is the host's own, with the prefix length, on the network between hosts. */
export async function startSwitch(host: SwitchHost, address: string | undefined): Promise<void> {
  const database = join(directoryOf(host.dir), 'conf.db')
  if (!existsSync(database)) await demand(host, ['ovsdb-tool', 'create', database, SCHEMA])
  const remote = `--remote=p${SOCKET}`
  if (await startDaemon(host, 'ovsdb-server', [database, remote])) await configure(host)
  await startDaemon(host, 'ovs-vswitchd', [SOCKET, '--disable-system'])
  if (address !== undefined) await takeCards(host, address)
  // Waits until someone writes the address of OVN's database into the switch's own.
  await startDaemon(host, 'ovn-controller', [SOCKET])
}

export async function killSwitchDaemon(
  host: SwitchHost,
  name: SwitchDaemon,
  signal: NodeJS.Signals,
): Promise<void> {
  const pid = pidOf(host, name)
  if (pid !== undefined) await killAndWait([pid], signal)
}

const pidOf = (host: SwitchHost, name: SwitchDaemon): number | undefined =>
  pidOfDaemon(host, join(daemons[name], `${name}.pid`), name)

/** Whether it was started, and did not run before. */
async function startDaemon(
  host: SwitchHost,
  name: SwitchDaemon,
  words: readonly string[],
): Promise<boolean> {
  if (pidOf(host, name) !== undefined) return false
  await demand(host, [
    name,
    ...words,
    '--detach',
    '--no-chdir',
    '-vconsole:off',
    '-vsyslog:off',
    `--log-file=${join(host.dir, 'log', `${name}.log`)}`,
    `--pidfile=/run/${daemons[name]}/${name}.pid`,
  ])
  return true
}

async function configure(host: SwitchHost): Promise<void> {
  await demand(host, ['ovs-vsctl', '--no-wait', 'init'])
  await demand(host, [
    'ovs-vsctl',
    '--no-wait',
    'set',
    'Open_vSwitch',
    '.',
    'external_ids:ovn-bridge-datapath-type=netdev',
    // Default: as many as the machine has cores, on every host.
    'other_config:n-handler-threads=1',
    'other_config:n-revalidator-threads=1',
    // Unless there is one, as Debian's scripts do.
    '--',
    'add',
    'Open_vSwitch',
    '.',
    'external_ids',
    `hostname=${host.name}`,
  ])
}

/**
 * Makes eth0 the port of a bridge that has the host's address; eth1 is for the host's uplink. The kernel receives what arrives at eth0
 * too, and would answer a second time: eth0 gets another MAC address, to which no one sends.
 */
async function takeCards(host: SwitchHost, address: string): Promise<void> {
  const card = await demand(host, ['cat', '/sys/class/net/eth0/address'])
  const own = card.trim().replace(/^../, '02')
  await demand(host, [
    'ovs-vsctl',
    '--timeout=30',
    '--',
    '--may-exist',
    'add-br',
    UNDERLAY,
    '--',
    '--may-exist',
    'add-port',
    UNDERLAY,
    'eth0',
    '--',
    'set',
    'bridge',
    UNDERLAY,
    'datapath_type=netdev',
    // Other machines remember it.
    `other_config:hwaddr="${own}"`,
  ])
  const commands = [
    `ip link set eth0 address ${own.replace(/^../, '06')} arp off`,
    'ip link set eth1 arp off',
    'ip address flush dev eth0',
    `ip address replace ${address} dev ${UNDERLAY}`,
    `ip link set ${UNDERLAY} up`,
    'ethtool -K eth0 tx off',
    'ethtool -K eth1 tx off',
  ]
  for (const command of commands) await demand(host, command.split(' '))
}

async function demand(host: SwitchHost, command: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await host.run(command)
  if (code === 0) return stdout
  throw new Error(
    `${command.join(' ')} failed on ${host.name}: ${stderr.trim() || `code ${code}`}; see ${join(host.dir, 'log')}`,
  )
}
