import type { VmId, TargetWord, Vm } from '@skerry/vm'

import type { Owner } from './owner.ts'
import type { VmRecord } from './record.ts'

/** The source's question to the target. */
export interface MoveQuestion {
  readonly move: string
  readonly id: VmId
  readonly owner: Owner
  /** Whether the source has handed the guest over. */
  readonly handed: boolean
}

/** All that the target needs to prepare. Plain data: it crosses a network. */
export interface Departure {
  /** The id of the move. */
  readonly move: string
  readonly power: 'on' | 'paused'
  readonly record: VmRecord
  readonly facts: {
    readonly cpus: number
    readonly memoryMiB: number
    readonly nested: boolean
    readonly mac: string
    readonly bridge: string | undefined
  }
  /** The running domain as libvirt XML. */
  readonly xml: string
  readonly virtualBytes: number
  /** base64 of the seed disk, if there is one. */
  readonly seed: string | undefined
  readonly flags: number
}

/** What the target has prepared. */
export interface Landing {
  /** The domain XML to run there. */
  readonly xml: string
  /** The domain XML to define there. */
  readonly persistentXml: string
}

/** The target, however it is reached. Cookies are libvirt's, in base64. A failed call does not show whether it took effect. */
export interface MoveTarget {
  makeReady(departure: Departure): Promise<Landing>
  prepare(
    move: string,
    leg: { xml: string; cookie: string; flags: number },
  ): Promise<{ uri: string; cookie: string }>
  finish(move: string, leg: { cookie: string; flags: number }): Promise<Arrival>
  /** Whether the guest is there. If it has not landed, this call decides that it never will. */
  decide(question: MoveQuestion): Promise<TargetWord>
}

/** Whether the guest runs on this host. */
export type Arrival =
  | { readonly word: 'landed'; readonly vm: Vm }
  | { readonly word: 'refused'; readonly reason: string }
