// A task as the pages show it, from a record of the query service or from its document.
import { idOf } from '../api/client.ts'
import type { TaskDocument } from '../api/documents.ts'
import type { TaskRecord } from '../api/query.ts'

export type ShownTaskState = 'queued' | 'running' | 'success' | 'error' | 'canceled'

export interface ShownTask {
  readonly id: string
  readonly href: string
  readonly state: ShownTaskState
  /** Name of the operation in the API, such as vappDeploy. */
  readonly operation: string
  readonly object: string
  /** vm-… or vapp-…; undefined: it no longer exists, or the task is of many VMs. */
  readonly objectId?: string | undefined
  /** One action on many VMs: its children have the results. */
  readonly isBulk: boolean
  readonly owner: string
  readonly progress: number
  readonly started: string
  readonly ended?: string | undefined
  /** It cannot be canceled. */
  readonly mustFinish?: true
  /** Why it failed, or what it waits for. */
  readonly message?: string | undefined
}

const states: readonly ShownTaskState[] = ['queued', 'running', 'success', 'error', 'canceled']
const stateOf = (word: string): ShownTaskState =>
  states.find((state) => state === word) ?? 'running'

export const isOpen = ({ state }: ShownTask): boolean => state === 'queued' || state === 'running'

/** What is done now, by the id of its VM or vApp. */
export const openTasksByObject = (
  tasks: readonly ShownTask[] = [],
): ReadonlyMap<string, ShownTask> =>
  new Map(tasks.filter(isOpen).map((task) => [task.objectId ?? '', task]))

export const taskOfRecord = (record: TaskRecord): ShownTask => ({
  id: idOf(record.href),
  href: record.href,
  state: stateOf(record.status),
  operation: record.name,
  object: record.objectName,
  objectId:
    record.object === undefined || record.objectType === 'org' ? undefined : idOf(record.object),
  isBulk: record.objectType === 'org',
  owner: record.ownerName,
  progress: record.progress ?? 0,
  started: record.startDate,
  ended: record.endDate,
  message: record.message ?? record.lastFailure ?? record.waitMessage,
})

const isOrg = (href: string): boolean => href.includes('/api/org/')

export const taskOfDocument = (document: TaskDocument): ShownTask => ({
  id: idOf(document.href),
  href: document.href,
  state: stateOf(document.status),
  operation: 'operationName' in document ? String(document.operationName) : document.operation,
  object: document.owner?.name ?? '',
  objectId:
    document.owner?.href === undefined || isOrg(document.owner.href)
      ? undefined
      : idOf(document.owner.href),
  isBulk: isOrg(document.owner?.href ?? ''),
  owner: document.user?.name ?? '',
  progress: document.progress ?? 0,
  started: document.startTime,
  ended: document.endTime,
  message: document.error?.message,
})
