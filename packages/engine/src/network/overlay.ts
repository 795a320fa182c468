import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'

import { writeDurably } from '@skerry/durable-file'
import { Fault } from '@skerry/fault'
import type { Ovsdb } from '@skerry/ovsdb'
import type { HostOverlay, OverlayJoin } from '@skerry/vm'

import { OVERLAY_BRIDGE } from '../domain/card-xml.ts'
import { outbound } from '../domain/segment.ts'
import { every } from '../every.ts'
import type { Host } from '../host/host.ts'
import { PUBLIC_FILE } from '../host/private-files.ts'
import { askDaemon } from './ask-daemon.ts'
import {
  changesTo,
  changeSwitch,
  dropPorts,
  guestPorts,
  openSwitch,
  readSwitch,
  waitForSwitch,
  type SwitchState,
} from './open-vswitch.ts'
import { canBeOutbound, ensureOutbound } from './outbound.ts'
import { bringUpCards, planUplinks, readCards, type UplinkPlan } from './uplinks.ts'
import { currentTls, readZone, writeZone, type JoinedZone } from './zone.ts'

const LOOK_EVERY_MS = 5000
/** A controller that loses its connection changes nothing for guests; only new cards wait. */
const UNCONNECTED_MS = 600_000
/**
 * A controller that starts keeps the flows of the one before for so long, while it computes its own. Without it, it clears them at
 * once, and a packet was seen to be lost.
 */
const CLEAR_AFTER_MS = '4000'
/** What a tunnel adds to each packet. */
const TUNNEL_BYTES = 58
/** The names of the uplinks that vmd wrote: an uplink that is not configured any more is removed, one of others stays. */
const OWN_UPLINKS = 'skerry-uplinks'
/** Serialised, because the configuration is read and then changed. No VM id may equal this key. */
const LOCK = 'overlay of the host'

const NONE: HostOverlay = { state: 'none', uplinks: [] }
const failing = (reason: string): HostOverlay => ({ state: 'failing', reason, uplinks: [] })

/** Connects this host to the networks of its zone. The fencing token is on disk before anything changes. */
export function joinOverlay(host: Host, join: OverlayJoin): Promise<void> {
  return host.locks.run(LOCK, async () => {
    const before = await readZone(host.paths)
    const highest = before?.join.fencingToken ?? '0'
    if (BigInt(join.fencingToken) < BigInt(highest)) {
      throw new Fault('stale', 'this host has joined a newer network server', { detail: highest })
    }
    if (!before && !existsSync(socketOf(host))) {
      throw new Fault('wrong-state', 'this host has no Open vSwitch')
    }
    await writeZone(host.paths, { join, connected: before?.connected ?? false })
    await using db = await openSwitch(socketOf(host))
    await configure(host, db, join)
    await updateState(host)
  })
}

/** Restores the configuration after any crash, and removes the ports of VMs that a power cut ended: Open vSwitch keeps them. */
export function settleOverlay(host: Host): Promise<void> {
  return host.locks.run(LOCK, async () => {
    await dropStalePorts(host).catch((error: unknown) =>
      host.log('failed to remove ports of Open vSwitch whose VM has ended', error),
    )
    await updateState(host)
  })
}

/** Other programs also configure Open vSwitch, and start and stop it. */
export function keepOverlay(host: Host, signal: AbortSignal): void {
  every(
    LOOK_EVERY_MS,
    signal,
    () => host.locks.run(LOCK, () => updateState(host)),
    (error) => host.log('failed to check Open vSwitch', error),
  )
}

const socketOf = ({ paths }: Host): string => join(paths.openvswitch, 'db.sock')

async function updateState(host: Host): Promise<void> {
  const before = host.overlay.now
  const now = await stateOf(host).catch((error: unknown) => failing((error as Error).message))
  host.overlay.see(now)
  if (now.reason !== undefined && now.reason !== before.reason) {
    host.log(`VMs of this host cannot reach networks across hosts: ${now.reason}`)
  }
}

async function stateOf(host: Host): Promise<HostOverlay> {
  const { paths } = host
  const zone = await readZone(paths)
  if (!existsSync(socketOf(host))) return zone ? failing('Open vSwitch does not run') : NONE
  if (!zone) return failing('it has not joined the network of its zone')
  await using db = await openSwitch(socketOf(host))
  const { state, faults } = await configure(host, db, zone.join)
  const why =
    (await whyNotSwitch(host)) ??
    (await whyNotTunnel(zone.join)) ??
    (await whyNotController(host, zone))
  return why === undefined ? { state: 'ready', uplinks: uplinksOf(state, faults) } : failing(why)
}

interface Configured {
  readonly state: SwitchState
  /** Why an uplink cannot be used, by its name. */
  readonly faults: UplinkPlan['faults']
}

/** Writes what is missing in one transaction; returns the state afterwards. */
async function configure(host: Host, db: Ovsdb, zone: OverlayJoin): Promise<Configured> {
  const isOut = canBeOutbound(host)
  const now = await readSwitch(db)
  const cards = await readCards(host.uplinks)
  const plan = planUplinks(host.uplinks, now, cards)
  reportFaults(host, plan)
  const datapath = now.bridges.get(OVERLAY_BRIDGE)?.datapath === 'netdev' ? 'netdev' : now.datapath
  host.overlay.see(host.overlay.now, datapath)
  const changes = changesTo(now, {
    externalIds: {
      'system-id': zone.systemId,
      // As in the database of the network server, where a host may not change it.
      hostname: zone.systemId,
      'ovn-remote': zone.remote,
      'ovn-encap-type': 'geneve',
      'ovn-encap-ip': zone.tunnelAddress,
      ...uplinkIds(now, plan, isOut),
      'ovn-match-northd-version': 'true',
      'ovn-remote-probe-interval': '60000',
      'ovn-ofctrl-wait-before-clear': CLEAR_AFTER_MS,
      'ovn-monitor-all': 'false',
      ...(datapath === 'netdev' && { 'ovn-bridge-datapath-type': 'netdev' }),
    },
    tls: await currentTls(host.paths),
    bridges: [
      { name: OVERLAY_BRIDGE },
      ...(isOut ? [{ name: outbound.bridge, mac: outbound.mac }] : []),
      ...plan.bridges,
    ],
  })
  if (changes.length === 0) {
    if (isOut) await ensureOutbound(host)
    await bringUpCards(cards, now)
    return { state: now, faults: plan.faults }
  }
  await keepSystemId(host, zone.systemId)
  await changeSwitch(db, changes)
  if ((await whyNotSwitch(host)) === undefined) await waitForSwitch(db, now)
  if (isOut) await ensureOutbound(host)
  const state = await readSwitch(db)
  await bringUpCards(cards, state)
  return { state, faults: plan.faults }
}

/** What was last logged about the uplinks of each host. */
const reported = new WeakMap<Host, string>()

function reportFaults(host: Host, { faults }: UplinkPlan): void {
  const text = [...faults].map(([name, why]) => `uplink ${name}: ${why}`).join('; ')
  if (text !== '' && text !== reported.get(host)) host.log(text)
  reported.set(host, text)
}

/** The scripts that start Open vSwitch write the id in this file into its database, at each start; without one, a random id. */
async function keepSystemId({ paths }: Host, id: string): Promise<void> {
  const file = join(paths.switchSettings, 'system-id.conf')
  const before = await readFile(file, 'utf8').catch(() => '')
  if (before.trim() === id || !existsSync(paths.switchSettings)) return
  await writeDurably(file, `${id}\n`, PUBLIC_FILE)
}

/** Uplinks that others added to Open vSwitch stay. */
function uplinkIds(
  { externalIds }: SwitchState,
  { mappings }: UplinkPlan,
  isOut: boolean,
): Record<string, string> {
  const earlier = externalIds.get(OWN_UPLINKS)
  const ours = new Set([outbound.uplink, ...mappings.keys(), ...(earlier?.split(',') ?? [])])
  const pairs = [
    ...pairsOf(externalIds).filter(([uplink]) => !ours.has(uplink)),
    ...mappings,
    ...(isOut ? [[outbound.uplink, outbound.bridge] as const] : []),
  ]
  const names = [...mappings.keys()].join(',')
  return {
    'ovn-bridge-mappings': pairs.map((pair) => pair.join(':')).join(','),
    ...((earlier !== undefined || names !== '') && { [OWN_UPLINKS]: names }),
  }
}

const pairsOf = (externalIds: ReadonlyMap<string, string>): (readonly [string, string])[] =>
  (externalIds.get('ovn-bridge-mappings') ?? '')
    .split(',')
    .filter((pair) => pair !== '')
    .map((pair) => {
      const [uplink = '', bridge = ''] = pair.split(':')
      return [uplink, bridge] as const
    })

const uplinksOf = ({ externalIds, bridges }: SwitchState, faults: UplinkPlan['faults']): string[] =>
  pairsOf(externalIds)
    .filter(([uplink, bridge]) => bridges.has(bridge) && !faults.has(uplink))
    .map(([uplink]) => uplink)
    .toSorted()

async function whyNotSwitch({ paths }: Host): Promise<string | undefined> {
  const version = await askDaemon(paths.openvswitch, 'ovs-vswitchd', 'version')
  return version === undefined ? 'ovs-vswitchd does not run' : undefined
}

async function whyNotTunnel({ tunnelAddress, mtu }: OverlayJoin): Promise<string | undefined> {
  const card = Object.entries(networkInterfaces()).find(([, addresses = []]) =>
    addresses.some(({ address }) => address === tunnelAddress),
  )?.[0]
  if (card === undefined) return `no card of this host has the address ${tunnelAddress}`
  const most = Number(await readFile(`/sys/class/net/${card}/mtu`, 'utf8'))
  const least = mtu + TUNNEL_BYTES
  return most < least ? `the MTU of ${card} is ${most}; tunnels need ${least}` : undefined
}

/** When the controller of each host was last seen connected. */
const connectedAt = new WeakMap<Host, number>()

async function whyNotController(host: Host, zone: JoinedZone): Promise<string | undefined> {
  const status = await askDaemon(host.paths.ovn, 'ovn-controller', 'connection-status')
  if (status === undefined) return 'ovn-controller does not run'
  const now = host.uptimeMs()
  if (status === 'connected') {
    connectedAt.set(host, now)
    if (!zone.connected) await writeZone(host.paths, { ...zone, connected: true })
    return undefined
  }
  const since = connectedAt.get(host) ?? now
  connectedAt.set(host, since)
  if (zone.connected && now - since < UNCONNECTED_MS) return undefined
  return `ovn-controller is not connected to ${zone.join.remote}`
}

async function dropStalePorts(host: Host): Promise<void> {
  if (!(await readZone(host.paths)) || !existsSync(socketOf(host))) return
  await using db = await openSwitch(socketOf(host))
  const ports = await guestPorts(db, OVERLAY_BRIDGE)
  const stale = ports.filter(({ device }) => !existsSync(`/sys/class/net/${device}`))
  if (stale.length === 0) return
  await dropPorts(
    db,
    OVERLAY_BRIDGE,
    stale.map(({ id }) => id),
  )
}
