import type { UsageHistory } from '../usage/usage-history.ts'
import type { Agents } from './agent.ts'
import type { Changes } from './changes.ts'
import type { Hypervisor } from './definition.ts'
import type { Endings } from './endings.ts'
import type { KeyedLock } from './keyed-lock.ts'
import type { KnownOverlay } from './known-overlay.ts'
import type { KnownPowers } from './known-powers.ts'
import type { LibvirtLink } from './link.ts'
import type { MoveTarget } from './move-protocol.ts'
import type { Moves } from './moves.ts'
import type { Paths } from './paths.ts'
import type { Records } from './record.ts'
import type { Room } from './space.ts'

/** One hypervisor host and all state that its operations share. */
export interface Host extends AsyncDisposable {
  readonly link: LibvirtLink
  /** For statistics. A separate connection: a QEMU that hangs makes calls wait, and libvirtd reads only a few at once from one. */
  readonly statsLink: LibvirtLink
  /** The guest agents, accessed over a separate connection. */
  readonly agents: Agents
  readonly locks: KeyedLock
  readonly records: Records
  readonly moves: Moves
  readonly changes: Changes
  readonly powers: KnownPowers
  readonly endings: Endings
  readonly room: Room
  /** Its connection to networks across hosts. */
  readonly overlay: KnownOverlay
  /** What its VMs used in the last hour. */
  readonly usage: UsageHistory
  readonly paths: Paths
  readonly hypervisor: Hypervisor
  /** The bridges that guests may join. */
  readonly bridges: readonly string[]
  /** The networks of the site that it connects to networks of the cloud. */
  readonly uplinks: readonly HostUplink[]
  /** Whether guests may reach the metadata addresses of the host's provider. */
  readonly metadata: boolean
  /** False for networks that exist in name only, as those of libvirt's in-memory driver. */
  readonly hasFirewall: boolean
  /** How long a guest may take to shut itself down. */
  readonly shutdownTimeoutMs: number
  /** Another host that guests can migrate to, by its name. */
  readonly targetOf: (to: string) => MoveTarget | undefined
  readonly clock: EngineClock
  /** Monotonic milliseconds, including the time in which the machine slept. */
  readonly uptimeMs: () => number
  readonly ids: EngineIds
  /** Logs a failure for which no caller waits. */
  readonly log: Log
}

/** A network of the site, and the card or the bridge of Open vSwitch that leads there. */
export interface HostUplink {
  readonly name: string
  readonly device: string
}

export interface EngineClock {
  now(): Date
}
export interface EngineIds {
  uuid(): string
}
export type Log = (message: string, cause?: unknown) => void
