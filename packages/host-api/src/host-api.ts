import type { Duplex } from 'node:stream'

import type {
  HostOverlay,
  Order,
  OverlayJoin,
  Report,
  TaskId,
  UsageSeries,
  UsageWindow,
  Vm,
  VmId,
} from '@skerry/vm'

import type { VmSpec, Goal } from './goals.ts'

/** What a host reports about itself when a session begins. */
export interface Hello {
  readonly version: string
  /** The kernel's boot id: a different one means that the machine was restarted. */
  readonly boot: string
  /** The highest fencing token that this host was ever given and has on disk. */
  readonly highest: string
  readonly cpus: number
  readonly memoryMiB: number
  readonly diskMiB: number
  /** What VMs of the local API use. */
  readonly local: { readonly cpus: number; readonly memoryMiB: number }
  readonly overlay: HostOverlay
}

/** What a host has stored about one VM, whether or not the VM still exists. */
export interface HostRecord {
  readonly vm: VmId
  readonly incarnation: string
  readonly highest: string
  readonly task: TaskId
  readonly spec?: VmSpec
  /** When it was deleted. */
  readonly gone?: string
  /** Whether the VM exists now, with this incarnation. */
  readonly exists: boolean
  /** Its order record is lost: the VM is quarantined, and its fencing tokens are unknown. */
  readonly lost?: true
}

/**
 * Why a VM is off. Reported only if its guest shut itself down in its last boot, which is the intent of its user. A crash, a
 * killed QEMU, a power cut and a request of the cloud are not, and report nothing.
 */
export type StopCause = 'by guest'

/** One line of a session, in this order: hello, every VM, listEnd, then changes of VMs and of the host's overlay. */
export type SessionLine =
  | { readonly kind: 'hello'; readonly hello: Hello }
  | {
      readonly kind: 'vm'
      readonly id: VmId
      readonly seq: number
      readonly vm?: Vm
      readonly stopped?: StopCause
    }
  | { readonly kind: 'listEnd'; readonly seq: number }
  | { readonly kind: 'overlay'; readonly overlay: HostOverlay }
  | { readonly kind: 'ping' }

/**
 * The API of one host for the cloud. It has three implementations: `connectHost` (over mTLS), vmd
 * (over the engine) and the lab's simulated host (in memory).
 */
export interface HostApi {
  /** Reaches the goal once, in the order of the VM's queue, and reports the state afterwards. */
  step(
    order: Order,
    goal: Goal,
    /** Ends the wait, not the step. */
    signal?: AbortSignal,
    /** Receives the progress of a long step, from 0 to 100. */
    progress?: (percent: number) => void,
  ): Promise<Report>
  /** Asks a running step to stop. If it stops, its own caller gets `canceled`. */
  stop(vm: VmId, key: string): Promise<void>
  /** Yields the hello, every VM, then every change, while the session is the highest. */
  follow(session: string, signal: AbortSignal): AsyncIterable<SessionLine>
  /** Keeps a session alive: sends a committed fencing token, returns the highest one on disk. */
  ping(session: string, fencingToken: string): Promise<{ readonly highest: string }>
  /** The order records of all VMs, including tombstones: the data from which a cloud can be recovered. */
  records(signal?: AbortSignal): AsyncIterable<HostRecord>
  /** Lets one bearer of the ticket open the screen of this boot within 40 s. */
  arm(screen: {
    readonly vm: VmId
    readonly boot: string
    readonly ticketHash: string
  }): Promise<void>
  open(vm: VmId, ticket: string, signal: AbortSignal): Promise<Duplex>
  /** The current screen of this boot, as PNG. */
  takeScreenshot(vm: VmId, boot: string): Promise<Buffer>
  /** What the VM used in the last hour; empty while it is not running. */
  readUsage(vm: VmId, window: UsageWindow): Promise<UsageSeries>
  /** Connects the host to the networks of its zone. A fencing token lower than one it has seen is `stale`. */
  joinOverlay(join: OverlayJoin): Promise<void>
}
