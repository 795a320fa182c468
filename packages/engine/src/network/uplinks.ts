// Networks of the site that this host is connected to. Each has a bridge of Open vSwitch, made once of the card that leads there.
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { networkInterfaces } from 'node:os'

import { OVERLAY_BRIDGE } from '../domain/card-xml.ts'
import { outbound } from '../domain/segment.ts'
import type { HostUplink } from '../host/host.ts'
import { runTool } from '../host/tool.ts'
import type { NewBridge, SwitchState } from './open-vswitch.ts'

const IFF_UP = 1

/** A network device of the host. */
export interface HostCard {
  readonly isUp: boolean
  readonly hasCarrier: boolean
  readonly isKernelBridge: boolean
  readonly hasAddress: boolean
  /** The devices on top of it, such as a bond or a VLAN. */
  readonly users: readonly string[]
}

/** What follows from the operator's uplinks and the state of the host. */
export interface UplinkPlan {
  /** The bridges to make. */
  readonly bridges: readonly NewBridge[]
  /** The bridge of each uplink, by its name. */
  readonly mappings: ReadonlyMap<string, string>
  /** Why an uplink cannot be used now, by its name. */
  readonly faults: ReadonlyMap<string, string>
}

/** Decides only. A bridge of Open vSwitch is used as it is; so is the bridge that has the card as its port. */
export function planUplinks(
  uplinks: readonly HostUplink[],
  { bridges }: SwitchState,
  cards: ReadonlyMap<string, HostCard>,
): UplinkPlan {
  const made: NewBridge[] = []
  const mappings = new Map<string, string>()
  const faults = new Map<string, string>()
  for (const { name, device } of uplinks) {
    const own = `br-${name}`
    const [there] =
      [...bridges].find(([each, { ports }]) => each === device || ports.has(device)) ?? []
    const card = cards.get(device)
    if (there === OVERLAY_BRIDGE || there === outbound.bridge) {
      faults.set(name, `${there} is for networks of the cloud; name another card or bridge`)
    } else if (there !== undefined) {
      mappings.set(name, there)
      const why = there === device ? undefined : whyNoLink(device, card)
      if (why !== undefined) faults.set(name, why)
    } else {
      const why = bridges.has(own)
        ? `the bridge ${own} exists without ${device}; name the bridge instead: ${name}=${own}`
        : whyNotCard(device, card)
      if (why !== undefined) faults.set(name, why)
      else {
        made.push({ name: own, card: device })
        mappings.set(name, own)
      }
    }
  }
  return { bridges: made, mappings, faults }
}

const whyNoLink = (device: string, card: HostCard | undefined): string | undefined =>
  card?.hasCarrier === true ? undefined : `${device} has no link`

/** A port of Open vSwitch is lost for all else: a card that the host itself uses is never taken. */
function whyNotCard(device: string, card: HostCard | undefined): string | undefined {
  if (!card) return `this host has no card or bridge of Open vSwitch ${device}`
  if (card.isKernelBridge) {
    return `${device} is a bridge of the kernel; name a card, or a bridge of Open vSwitch`
  }
  if (card.hasAddress) {
    return `${device} has an address of this host; name another card, or a bridge of Open vSwitch that has the address`
  }
  const [user] = card.users
  return user === undefined ? undefined : `${device} is used by ${user}; name another card`
}

/** The devices of the host that the uplinks name. */
export async function readCards(
  uplinks: readonly HostUplink[],
): Promise<ReadonlyMap<string, HostCard>> {
  const cards = new Map<string, HostCard>()
  for (const { device } of uplinks) {
    const at = `/sys/class/net/${device}`
    if (!existsSync(at)) continue
    const number = async (file: string) =>
      // The carrier of a card that is down cannot be read.
      Number(await readFile(`${at}/${file}`, 'utf8').catch(() => '0'))
    const addresses = networkInterfaces()[device] ?? []
    cards.set(device, {
      isUp: ((await number('flags')) & IFF_UP) !== 0,
      hasCarrier: (await number('carrier')) === 1,
      isKernelBridge: existsSync(`${at}/bridge`),
      // Every card that is up has an address of its link.
      hasAddress: addresses.some(({ address }) => !address.startsWith('fe80:')),
      users: (await readdir(at))
        .filter((entry) => entry.startsWith('upper_'))
        .map((entry) => entry.slice('upper_'.length)),
    })
  }
  return cards
}

/** A card without an address is often not configured at all, and down after each start of the machine. */
export async function bringUpCards(
  cards: ReadonlyMap<string, HostCard>,
  { bridges }: SwitchState,
): Promise<void> {
  const isPort = (device: string) => [...bridges.values()].some(({ ports }) => ports.has(device))
  for (const [device, { isUp }] of cards) {
    if (!isUp && isPort(device)) await runTool('ip', ['link', 'set', device, 'up'])
  }
}
