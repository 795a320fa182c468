/** A card of a VM on a network that reaches across hosts. */
export interface Nic {
  readonly index: number
  /** The name of its port on the network. */
  readonly id: string
  readonly mac: string
  readonly mtu: number
  /** Whether its cable is plugged in. */
  readonly connected: boolean
  readonly network: string
  readonly address?: string
}

export const NICS_MAX = 10
/** The smallest MTU of IPv6, and that of jumbo frames less what a tunnel adds. */
export const nicMtu = { min: 1280, max: 8942 } as const

/** Why one VM cannot have these cards. */
export function whyNotNics(nics: readonly Nic[]): string | undefined {
  for (const field of ['index', 'id', 'mac'] as const) {
    if (new Set(nics.map((nic) => nic[field])).size < nics.length) {
      return `two cards have the same ${field}`
    }
  }
  return undefined
}

/**
 * What changes between two lists of cards; undefined: a VM without such cards. `none`: nothing that the host stores. `links`: what
 * also works while the VM runs. `cards`: the guest's hardware, only while the VM is off.
 */
export function nicChange(
  now: readonly Nic[] | undefined,
  wanted: readonly Nic[] | undefined,
): 'none' | 'links' | 'cards' {
  const part = (nics: readonly Nic[] | undefined, of: (nic: Nic) => readonly unknown[]) =>
    JSON.stringify(nics?.toSorted((a, b) => a.index - b.index).map(of) ?? null)
  const hardware = ({ index, id, mac, mtu }: Nic) => [index, id, mac, mtu]
  const all = (nic: Nic) => [hardware(nic), nic.connected, nic.network, nic.address ?? null]
  if (part(now, hardware) !== part(wanted, hardware)) return 'cards'
  return part(now, all) === part(wanted, all) ? 'none' : 'links'
}

/** Whether VMs of a host can have cards on networks that reach across hosts. */
export interface HostOverlay {
  /** none: the host has no Open vSwitch. failing: it has one that does not work now. */
  readonly state: 'none' | 'ready' | 'failing'
  /** Why it is failing. */
  readonly reason?: string
  /** The external networks that it is connected to. */
  readonly uplinks: readonly string[]
}

/** The zone that a host joins: where it reads its networks, and its own end of the tunnels. */
export interface OverlayJoin {
  /** The fencing token under which the zone's network server opened its database. */
  readonly fencingToken: string
  /** The address of that database, such as ssl:192.0.2.1:6642. */
  readonly remote: string
  /** The id of the host. */
  readonly systemId: string
  readonly tunnelAddress: string
  /** The MTU of guests. */
  readonly mtu: number
}
