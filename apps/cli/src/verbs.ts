import type { Tell } from './progress.ts'
import type { Column } from './table.ts'
import type { VmRow } from './vm-row.ts'

/**
 * What can be done to VMs wherever they are. There are two of these, by vmd of this machine and by a cloud; which one it is
 * was chosen before a command runs, and no command asks. A VM is named by a word of the person.
 */
export interface Verbs extends Reading, Changing {}

/** What is only looked at. */
export interface Reading {
  /** How VMs are shown here. */
  readonly columns: readonly Column<VmRow>[]
  readonly templateColumns: readonly Column<Template>[]
  list(asked: Listed): Promise<readonly VmRow[]>
  info(vm: string): Promise<VmRow>
  address(vm: string): Promise<Address>
  waitForAddress(vm: string, seconds: number): Promise<Address>
  screen(vm: string): Promise<ShownScreen>
  snapshots(vm: string): Promise<readonly Snapshot[]>
  templates(): Promise<readonly Template[]>
  /** What helps where a template of this name is there already. */
  readonly otherTemplate: (name: string) => string
  /** From now on, or from after this event on, for as long as somebody listens. */
  events(since: string | undefined): AsyncIterable<Happened>
  /** What may stand for VM, TEMPLATE and the like in a line that is being typed. */
  names(what: string): Promise<readonly string[]>
}

/** What becomes otherwise. */
export interface Changing {
  create(wanted: WantedVm, doing: Doing): Promise<Told>
  clone(vm: string, wanted: Named, doing: Doing): Promise<Told>
  change(vm: string, settings: Settings, doing: Doing): Promise<Told>
  power(vm: string, word: PowerWord, doing: Doing): Promise<Told>
  startAnew(vm: string, how: 'reset' | 'reboot', doing: Doing): Promise<Told>
  /** `force` pulls the plug first. */
  remove(vm: string, force: boolean, doing: Doing): Promise<Told>
  keep(vm: string, snapshot: WantedSnapshot, doing: Doing): Promise<Told>
  revert(vm: string, snapshot: string, doing: Doing): Promise<Told>
  forget(vm: string, snapshot: string, doing: Doing): Promise<Told>
  importTemplate(wanted: WantedTemplate, doing: Doing): Promise<Told>
}

export type SnapshotVerbs = 'keep' | 'revert' | 'forget'

/** How something is done. */
export interface Doing {
  /** Whether to wait for its end, where it goes on without us. */
  readonly wait: boolean
  readonly tell: Tell
}

/** What came of it: for people, and as --json prints it. */
export interface Told {
  readonly text: string
  readonly body: unknown
  /** The task by which it goes on, where nobody waited for it. */
  readonly task?: { readonly id: string; readonly status: string }
  /** What is mostly done then, where it follows from this. */
  readonly next?: string | undefined
}

export interface Listed {
  readonly state?: string | undefined
  readonly tag?: string | undefined
  /** As the query service of a cloud reads it. */
  readonly filter?: string | undefined
  /** Those of all organisations too. */
  readonly all?: boolean
}

export interface Named {
  readonly id: string
  readonly name?: string | undefined
  readonly tag?: string | undefined
}

export interface Sizes {
  readonly cpus?: number | undefined
  readonly memoryMiB?: number | undefined
  readonly diskMiB?: number | undefined
}

export interface WantedVm extends Named, Sizes {
  readonly template?: string | undefined
  readonly autostart?: boolean | undefined
  readonly bridge?: string | undefined
  readonly sshKeys?: readonly string[] | undefined
  readonly userData?: string | undefined
  readonly start: boolean
  readonly vdc?: string | undefined
}

export interface Settings extends Sizes {
  readonly name?: string | undefined
  readonly tag?: string | undefined
  readonly autostart?: boolean | undefined
  /** null: back to the network for guests. */
  readonly bridge?: string | null | undefined
}

export type PowerWord = 'on' | 'off' | 'shutdown' | 'suspend' | 'pause' | 'unpause'

export interface Address {
  readonly address: string
  /** The VM under a name that no other ever has, for what is remembered of it. */
  readonly id: string
  readonly body: unknown
}

export interface ShownScreen {
  /** What a browser opens. */
  readonly address: string
  readonly state: string
  /** Until when it must be opened, where it is not good for ever. */
  readonly expires?: string | undefined
}

export interface Snapshot {
  readonly name: string
  readonly createdAt: string
  readonly memory: boolean
  readonly current: boolean
}

export interface WantedSnapshot {
  readonly name: string
  /** false leaves the memory of a running guest out. */
  readonly memory?: false | undefined
}

export interface Template {
  readonly name: string
  readonly digest?: string
  readonly virtualBytes: number
  readonly fileBytes?: number
  readonly cpus?: number
  readonly memoryMiB?: number
}

export interface WantedTemplate {
  readonly name: string
  /** The image, on this machine. */
  readonly file: string
  readonly sha256?: string | undefined
  /** In place of the one that VMs are made from. */
  readonly isDefault: boolean
  readonly catalog?: string | undefined
  readonly cpus?: number | undefined
  readonly memoryMiB?: number | undefined
}

export interface Happened {
  /** From where to go on; undefined where nothing was told yet. */
  readonly id: string | undefined
  readonly text: string
  readonly body: unknown
}
