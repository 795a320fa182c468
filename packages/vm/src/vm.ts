import type { VmId } from './id.ts'
import type { PowerState } from './power.ts'

/** A VM as its host knows it. */
export interface Vm {
  readonly id: VmId
  readonly name: string
  readonly tag: string
  readonly power: PowerState
  /** Why it is paused although nobody asked for it. */
  readonly pausedBy?: 'full disk' | 'disk error'
  /** Which life of the VM: made again or moved is another. Decimal. */
  readonly incarnation: string
  /** Names one life of its QEMU process; null while there is none. */
  readonly boot: string | null
  readonly cpus: number
  readonly memoryMiB: number
  readonly diskMiB: number
  readonly nested: boolean
  /** The bridge of its host that it is on, where it is not on the host's own network for guests. */
  readonly bridge?: string
  /** Its card, where it is on the network of an organisation. */
  readonly card?: Card
  readonly autostart: boolean
  readonly sharing: boolean
}

/** A network card, and the address that it always has on its network. */
export interface Card {
  readonly network: string
  readonly mac: string
  readonly address: string
}

/** What a list says of each VM: cheap enough for thousands. */
export type VmSummary = Pick<Vm, 'id' | 'name' | 'tag' | 'power'>

/** What a host has seen. Of two reports the one with the higher (session, seq) is the newer. */
export interface Report {
  readonly session: string
  readonly seq: number
  /** undefined: it is gone. */
  readonly vm?: Vm
}

/** A directory of the host that a guest sees below /mnt/shares. */
export interface Folder {
  /** The name in the guest, and the mapping's identifier. */
  readonly guestPath: string
  readonly hostPath: string
  readonly flags: FolderFlags
}

/** 4 is read and write, as the local API's spec says; 0 is read-only. */
export const folderFlags = [0, 4] as const
export type FolderFlags = (typeof folderFlags)[number]

export interface Snapshot {
  readonly name: string
  readonly createdAt: string
  /** Whether it brings a running guest back, not only a disk. */
  readonly memory: boolean
  /** The one the VM was last taken from or brought back to. */
  readonly current: boolean
}

export interface Template {
  readonly name: string
  readonly digest: string
  readonly virtualBytes: number
  readonly fileBytes: number
}
