import type { Duplex } from 'node:stream'

import type { Order, Report, TaskId, Vm, VmId } from '@skerry/vm'

import type { Deed, Goal } from './goals.ts'

/** What a host says of itself when a session begins. */
export interface Hello {
  readonly version: string
  /** The kernel's boot id: another one means that the machine was down. */
  readonly boot: string
  /** The highest number this host was ever given and has on disk. */
  readonly highest: string
  readonly cpus: number
  readonly memoryMiB: number
  readonly diskMiB: number
  /** What VMs of the local door take of it. */
  readonly local: { readonly cpus: number; readonly memoryMiB: number }
}

/** What a host remembers of one VM, whether or not it is there. */
export interface HostRecord {
  readonly vm: VmId
  readonly incarnation: string
  readonly highest: string
  readonly task: TaskId
  readonly deed?: Deed
  /** When it was deleted. */
  readonly gone?: string
  /** Whether there is a VM now, of this incarnation. */
  readonly there: boolean
  /** What it was ordered is lost: the VM is quarantined, and its numbers are not known any more. */
  readonly lost?: true
}

/**
 * Why a VM is off, said only where its guest shut itself down in its last boot: that is a wish of whoever uses it. A crash, a
 * killed QEMU, a power cut and what the cloud itself asked for are not, and say nothing.
 */
export type Stopped = 'by guest'

/** One line of a session, in this order: hello, every VM, listed, then what changes. */
export type Told =
  | { readonly is: 'hello'; readonly hello: Hello }
  | {
      readonly is: 'vm'
      readonly id: VmId
      readonly seq: number
      readonly vm?: Vm
      readonly stopped?: Stopped
    }
  | { readonly is: 'listed'; readonly seq: number }
  | { readonly is: 'ping' }

/**
 * All that the cloud can ask of one host. Three things implement it: `connectHost` (over mTLS), vmd
 * (over the engine) and the lab's simulated host (in memory).
 */
export interface HostApi {
  /** Makes it so, once, in the VM's turn, and says what is so afterwards. */
  step(
    order: Order,
    goal: Goal,
    /** Ends the waiting, not the step. */
    signal?: AbortSignal,
    /** Takes how far a long one is, from 0 to 100. */
    progress?: (percent: number) => void,
  ): Promise<Report>
  /** Asks a step that is under way to stop. It answers its own caller with `canceled` if it did. */
  stop(vm: VmId, key: string): Promise<void>
  /** Hello, every VM, then every change, for as long as the session is the highest. */
  follow(session: string, signal: AbortSignal): AsyncIterable<Told>
  /** Keeps a session: brings a number that was committed, answers with the highest on disk. */
  ping(session: string, number: string): Promise<{ readonly highest: string }>
  /** What this host was ordered, VM by VM, tombstones too: all there is to recover a cloud from. */
  records(signal?: AbortSignal): AsyncIterable<HostRecord>
  /** Lets one bearer of the ticket see the screen of this boot, within 40 s. */
  arm(screen: {
    readonly vm: VmId
    readonly boot: string
    readonly ticketHash: string
  }): Promise<void>
  open(vm: VmId, ticket: string, signal: AbortSignal): Promise<Duplex>
  /** What is on the screen of this boot now, as PNG. */
  takeScreenshot(vm: VmId, boot: string): Promise<Buffer>
}
