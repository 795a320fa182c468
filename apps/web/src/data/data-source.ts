// Where pages get their data: a cloud or one machine. Pages and the shell ask the source, and do not ask which of the two it is.
import type { MetricsDocument } from '../api/documents.ts'
import type { QueryPage } from '../api/query.ts'
import type { VmAction } from '../model/actions.ts'
import type { ShownTask } from '../model/task.ts'
import type { ListedVm, VmDetails } from '../model/vm.ts'

export interface LatestTasks {
  readonly total: number
  readonly tasks: readonly ShownTask[]
}

export interface DataSource {
  readonly readVm: (id: string, signal?: AbortSignal) => Promise<VmDetails>
  /** VMs with this text in their name. */
  readonly findVms: (
    text: string,
    pageSize: number,
    signal: AbortSignal,
  ) => Promise<QueryPage<ListedVm>>
  /** The latest tasks, newest first. */
  readonly readTasks: (signal: AbortSignal) => Promise<LatestTasks>
  /** Sends an action; undefined: it is done without a task. */
  readonly sendAction: (action: VmAction, body?: unknown) => Promise<ShownTask | undefined>
  /** Default: the console opens beside the page. */
  readonly openConsole?: (action: VmAction) => void
  /** Brings events into the cache until the returned function is called. */
  readonly startLiveUpdates: () => () => void
  /** What a VM used in the last hour. */
  readonly readMetrics: (id: string, signal?: AbortSignal) => Promise<MetricsDocument>
  /** The word by which `skerry` finds a VM. */
  readonly nameForTerminal: (vm: { readonly id: string; readonly name: string }) => string
  /** A request as a line for a terminal. */
  readonly curlLine: (method: string, path: string, body?: unknown) => string
}
