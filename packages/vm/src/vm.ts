import type { VmId } from './id.ts'
import type { PowerState } from './power.ts'

/** A VM as its host knows it. */
export interface Vm {
  readonly id: VmId
  readonly name: string
  readonly tag: string
  readonly power: PowerState
  /** Why it is paused without a request. */
  readonly pausedBy?: 'full disk' | 'disk error'
  /** The incarnation of the VM: it increases when the VM is created again or moved. Decimal. */
  readonly incarnation: string
  /** Identifies one run of its QEMU process; null if it does not run. */
  readonly boot: string | null
  readonly cpus: number
  readonly memoryMiB: number
  readonly diskMiB: number
  readonly nested: boolean
  /** The host bridge that it is on, if it is not on a guest network of the host. */
  readonly bridge?: string
  /** Its card, if it is on the network of an organisation. */
  readonly card?: Card
  readonly autostart: boolean
  readonly sharing: boolean
}

/** A network card with its fixed address. */
export interface Card {
  readonly network: string
  readonly mac: string
  readonly address: string
}

/** One row of a list: cheap enough for thousands. */
export interface VmSummary extends Pick<Vm, 'id' | 'name' | 'tag' | 'power'> {
  /** Its QEMU process is ending. Its power state is 'on' until then, even if it was paused before. */
  readonly ending?: true
}

/** The state of a VM as seen by its host. Of two reports the one with the higher (session, seq) is newer. */
export interface Report {
  readonly session: string
  readonly seq: number
  /** undefined: the VM is gone. */
  readonly vm?: Vm
}

/** A host directory that a guest sees below /mnt/shares. */
export interface Folder {
  /** The name in the guest, and the mapping's identifier. */
  readonly guestPath: string
  readonly hostPath: string
  readonly flags: FolderFlags
}

/** 4 is read and write, as in the specification of the local API; 0 is read-only. */
export const folderFlags = [0, 4] as const
export type FolderFlags = (typeof folderFlags)[number]

export interface Snapshot {
  readonly name: string
  readonly createdAt: string
  /** Whether it includes the memory of a running guest. */
  readonly memory: boolean
  /** The snapshot that was last taken or reverted to. */
  readonly current: boolean
}

export interface Template {
  readonly name: string
  readonly digest: string
  readonly virtualBytes: number
  readonly fileBytes: number
}
