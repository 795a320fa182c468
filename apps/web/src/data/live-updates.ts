// Brings events into the cache: a visible row changes at once, lists and documents are read again.
import type { LiveEvent } from '../api/event-stream.ts'
import { followEvents } from '../api/event-stream.ts'
import type { QueryPage } from '../api/query.ts'
import { powerOfWord } from '../model/power.ts'
import { isOpen, type ShownTask } from '../model/task.ts'
import type { ListedVm, VmDetails } from '../model/vm.ts'
import { isStreamAlive, markLive, markLost } from './connection.ts'
import type { LatestTasks } from './data-source.ts'
import { reportFailure } from './own-tasks.ts'
import { queryClient } from './query-client.ts'
import { hasSessionEnded } from './session.ts'

const LISTS_MS = 1500
const TASKS_MS = 250

/** Runs at most once in this time, however often it is called. */
export function throttled(ms: number, run: () => void): () => void {
  let isWaiting = false
  return () => {
    if (isWaiting) return
    isWaiting = true
    setTimeout(() => {
      isWaiting = false
      run()
    }, ms)
  }
}

const invalidate = (...key: readonly string[]): void =>
  void queryClient.invalidateQueries({ queryKey: key })

/** Only what is visible is read again at once. */
const refreshLists = throttled(LISTS_MS, () => {
  invalidate('records')
  invalidate('count')
  invalidate('document')
})
const refreshTasks = throttled(TASKS_MS, () => invalidate('tasks'))

function changeRow(id: string, change: Partial<ListedVm>): void {
  for (const type of ['vm', 'adminVM']) {
    queryClient.setQueriesData<QueryPage<ListedVm>>({ queryKey: ['records', type] }, (page) =>
      page?.records.some((row) => row.id === id)
        ? {
            ...page,
            records: page.records.map((row) => (row.id === id ? { ...row, ...change } : row)),
          }
        : page,
    )
  }
}

function changeVm(id: string, change: Partial<ListedVm>): void {
  changeRow(id, change)
  queryClient.setQueryData<VmDetails>(['vm', id], (vm) => vm && { ...vm, ...change })
}

/** Changes an open task of the list; false if it is not there. */
function changeTask(id: string, change: Partial<ShownTask>): boolean {
  const latest = queryClient.getQueryData<LatestTasks>(['tasks'])
  if (!latest?.tasks.some((task) => task.id === id && isOpen(task))) return false
  const tasks = latest.tasks.map((task) => (task.id === id ? { ...task, ...change } : task))
  queryClient.setQueryData<LatestTasks>(['tasks'], { ...latest, tasks })
  return true
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined

function onEvent({ event, data }: LiveEvent): void {
  const id = textOf(data['vm'])
  const vm = id === undefined ? undefined : `vm-${id}`
  const task = textOf(data['task']) ?? ''
  if (event === 'progress')
    return void changeTask(task, { state: 'running', progress: Number(data['progress']) })
  if (event === 'task.running') {
    const isReading = queryClient.isFetching({ queryKey: ['tasks'] }) > 0
    // An answer that is on its way may be older than the event.
    if (!changeTask(task, { state: 'running' }) || isReading) refreshTasks()
    if (vm !== undefined) changeRow(vm, { isBusy: true })
    return
  }
  if (event === 'vm.status' && vm !== undefined)
    changeVm(vm, {
      power: powerOfWord(String(data['status'])),
      address: textOf(data['address']),
    })
  if (event.startsWith('task.')) {
    refreshTasks()
    const isBusy = event === 'task.queued' || event === 'task.waiting'
    if (vm !== undefined) changeRow(vm, { isBusy })
    if (event === 'task.error') void reportFailure(task)
  }
  // A lost host is one event for all its VMs.
  if (event === 'vms.unknown') invalidate('vm')
  if (vm !== undefined) invalidate('vm', vm)
  if (event !== 'task.waiting') refreshLists()
}

/** Follows the events until it is stopped. */
export const startLiveUpdates = (): (() => void) =>
  followEvents('/api/events?progress=true', {
    onEvent,
    onState: (state) => {
      isStreamAlive.set(state === 'live')
      if (state === 'live') markLive()
      else markLost()
    },
    onReset: () => void queryClient.invalidateQueries(),
    onUnauthenticated: () => hasSessionEnded.set(true),
  })
