import type { TableColumn } from '@skerry/command-line'
import type { UsageSeries, UsageWindow } from '@skerry/vm'

import type { ReportProgress } from '../terminal/report-progress.ts'
import type { VmListRow } from './vm-list-row.ts'

/**
 * Operations on VMs. There are two implementations: vmd on this machine, and a cloud. The profile selects one before a command
 * runs; commands do not know which. A VM is named by what the user typed: a name or an id.
 */
export interface VmBackend extends VmReader, VmChanger {}

/** Operations that only read. */
export interface VmReader {
  /** Columns of the VM table. */
  readonly columns: readonly TableColumn<VmListRow>[]
  readonly templateColumns: readonly TableColumn<TemplateEntry>[]
  list(requested: ListOptions): Promise<readonly VmListRow[]>
  info(vm: string): Promise<VmListRow>
  address(vm: string): Promise<VmAddress>
  waitForAddress(vm: string, seconds: number): Promise<VmAddress>
  /** Where a TCP port of the guest is reached from here. */
  reach(vm: string, port: number, seconds: number): Promise<ReachableAddress>
  screen(vm: string): Promise<ShownScreen>
  /** What the VM used in the last hour; empty while it is not running. */
  usage(vm: string, window: UsageWindow): Promise<UsageSeries>
  snapshots(vm: string): Promise<readonly SnapshotEntry[]>
  templates(): Promise<readonly TemplateEntry[]>
  /** Hint if a template of this name already exists. */
  readonly otherTemplate: (name: string) => string
  /** Events from now on, or after the given event, until the caller stops reading. */
  events(since: string | undefined): AsyncIterable<Happened>
  /** Completions for an argument such as VM or TEMPLATE. */
  names(what: string): Promise<readonly string[]>
}

/** Operations that change something. */
export interface VmChanger {
  create(wanted: WantedVm, doing: ChangeOptions): Promise<CommandResult>
  clone(vm: string, wanted: Named, doing: ChangeOptions): Promise<CommandResult>
  change(vm: string, settings: VmSettings, doing: ChangeOptions): Promise<CommandResult>
  power(vm: string, word: PowerWord, doing: ChangeOptions): Promise<CommandResult>
  restart(vm: string, how: 'reset' | 'reboot', doing: ChangeOptions): Promise<CommandResult>
  /** `force` powers the VM off first. */
  remove(vm: string, force: boolean, doing: ChangeOptions): Promise<CommandResult>
  keep(vm: string, snapshot: WantedSnapshot, doing: ChangeOptions): Promise<CommandResult>
  revert(vm: string, snapshot: string, doing: ChangeOptions): Promise<CommandResult>
  forget(vm: string, snapshot: string, doing: ChangeOptions): Promise<CommandResult>
  importTemplate(wanted: WantedTemplate, doing: ChangeOptions): Promise<CommandResult>
}

export type SnapshotVerbs = 'keep' | 'revert' | 'forget'

/** How an operation is run. */
export interface ChangeOptions {
  /** Whether to wait for the end of an asynchronous operation. */
  readonly wait: boolean
  readonly report: ReportProgress
}

/** The result of an operation: text, and the body that --json prints. */
export interface CommandResult {
  readonly text: string
  readonly body: unknown
  /** The running task, if the command did not wait for it. */
  readonly task?: { readonly id: string; readonly status: string }
  /** The usual next step, if it depends on the result. */
  readonly next?: string | undefined
}

export interface ListOptions {
  readonly state?: string | undefined
  readonly tag?: string | undefined
  /** A filter in the syntax of the query API. */
  readonly filter?: string | undefined
  /** Include VMs of all organisations. */
  readonly all?: boolean
}

export interface Named {
  readonly id: string
  readonly name?: string | undefined
  readonly tag?: string | undefined
}

export interface VmSizes {
  readonly cpus?: number | undefined
  readonly memoryMiB?: number | undefined
  readonly diskMiB?: number | undefined
}

export interface WantedVm extends Named, VmSizes {
  readonly template?: string | undefined
  readonly autostart?: boolean | undefined
  readonly bridge?: string | undefined
  readonly sshKeys?: readonly string[] | undefined
  readonly userData?: string | undefined
  readonly start: boolean
  readonly vdc?: string | undefined
  /** Networks of a cloud, by name. */
  readonly networks?: readonly string[] | undefined
}

export interface VmSettings extends VmSizes {
  readonly name?: string | undefined
  readonly tag?: string | undefined
  readonly autostart?: boolean | undefined
  /** null: back to the NAT network. */
  readonly bridge?: string | null | undefined
}

export type PowerWord = 'on' | 'off' | 'shutdown' | 'suspend' | 'pause' | 'unpause'

export interface VmAddress {
  readonly address: string
  /** An id of the VM that is never reused, for stored data such as SSH host keys. */
  readonly id: string
  readonly body: unknown
}

export interface ReachableAddress extends VmAddress {
  /** Another one than that of the guest, if it is published. */
  readonly port: number
  /** The network of a cloud that it is an address of: no one outside reaches it. */
  readonly within?: string | undefined
}

export interface ShownScreen {
  /** URL for a browser. */
  readonly address: string
  readonly state: string
  /** When the URL expires, if it does. */
  readonly expires?: string | undefined
}

export interface SnapshotEntry {
  readonly name: string
  readonly createdAt: string
  readonly memory: boolean
  readonly current: boolean
}

export interface WantedSnapshot {
  readonly name: string
  /** false: do not save the memory of a running guest. */
  readonly memory?: false | undefined
}

export interface TemplateEntry {
  readonly name: string
  readonly digest?: string
  readonly virtualBytes: number
  readonly fileBytes?: number
  readonly cpus?: number
  readonly memoryMiB?: number
}

export interface WantedTemplate {
  readonly name: string
  /** Path of the image on this machine. */
  readonly file: string
  readonly sha256?: string | undefined
  /** Replace the default template. */
  readonly isDefault: boolean
  readonly catalog?: string | undefined
  readonly cpus?: number | undefined
  readonly memoryMiB?: number | undefined
}

export interface Happened {
  /** Where to resume; undefined before the first event. */
  readonly id: string | undefined
  readonly text: string
  readonly body: unknown
}
