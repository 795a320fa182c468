// Brings events into the cache: a visible row changes at once, lists and documents are read again.
import type { LiveEvent } from '../../api/event-stream.ts'
import { followEvents } from '../../api/event-stream.ts'
import type { QueryPage, TaskRecord } from '../../api/query.ts'
import { powerOfWord } from '../../model/power.ts'
import { isOpen, taskOfRecord, type ShownTask } from '../../model/task.ts'
import type { ListedVm, VmDetails } from '../../model/vm.ts'
import { isStreamAlive, isStreamRefused, markLive, markLost } from '../connection.ts'
import type { LatestTasks } from '../data-source.ts'
import { reportFailure } from '../own-tasks.ts'
import { queryClient, readAgain } from '../query-client.ts'
import { hasSessionEnded } from '../session.ts'
import { startIntervalUpdates } from './interval-updates.ts'

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

/** Only what is visible is read again at once. */
const refreshLists = throttled(LISTS_MS, () => {
  void readAgain('records')
  void readAgain('count')
  void readAgain('document')
})
const refreshTasks = throttled(TASKS_MS, () => void readAgain('tasks'))
/** A task that began to run may belong into a filtered list now. */
const refreshTaskRecords = throttled(LISTS_MS, () => void readAgain('records', 'task'))

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

/** An open task runs, with this progress if it is known. False if it is not in the list of the latest tasks. */
function showRunning(id: string, progress?: number): boolean {
  const change = { state: 'running', ...(progress !== undefined && { progress }) } as const
  queryClient.setQueryData<ShownTask>(['tasks', id], (task) =>
    task && isOpen(task) ? { ...task, ...change } : task,
  )
  changeTaskRecord(id, progress)
  const latest = queryClient.getQueryData<LatestTasks>(['tasks'])
  if (!latest?.tasks.some((task) => task.id === id && isOpen(task))) return false
  const tasks = latest.tasks.map((task) => (task.id === id ? { ...task, ...change } : task))
  queryClient.setQueryData<LatestTasks>(['tasks'], { ...latest, tasks })
  return true
}

function changeTaskRecord(id: string, progress: number | undefined): void {
  const isMeant = (record: TaskRecord): boolean => {
    const task = taskOfRecord(record)
    return task.id === id && isOpen(task)
  }
  const change = { status: 'running', ...(progress !== undefined && { progress }) }
  queryClient.setQueriesData<QueryPage<TaskRecord>>({ queryKey: ['records', 'task'] }, (page) =>
    page?.records.some(isMeant)
      ? {
          ...page,
          records: page.records.map((each) => (isMeant(each) ? { ...each, ...change } : each)),
        }
      : page,
  )
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined

function onEvent({ event, data }: LiveEvent): void {
  const id = textOf(data['vm'])
  const vm = id === undefined ? undefined : `vm-${id}`
  const task = textOf(data['task']) ?? ''
  if (event === 'progress') return void showRunning(task, Number(data['progress']))
  if (event === 'task.running') {
    const isReading = queryClient.isFetching({ queryKey: ['tasks'] }) > 0
    // An answer that is on its way may be older than the event.
    if (!showRunning(task) || isReading) refreshTasks()
    refreshTaskRecords()
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
  if (event === 'vms.unknown') void readAgain('vm')
  if (vm !== undefined) void readAgain('vm', vm)
  if (event !== 'task.waiting') refreshLists()
}

/** Follows the events until it is stopped. A user who may not follow them gets what is visible at an interval. */
export function startLiveUpdates(): () => void {
  let stopInterval: (() => void) | undefined
  const setRefused = (isRefused: boolean): void => {
    if (isRefused === isStreamRefused.get()) return
    isStreamRefused.set(isRefused)
    stopInterval?.()
    stopInterval = isRefused ? startIntervalUpdates() : undefined
  }
  const stop = followEvents('/api/events?progress=true', {
    onEvent,
    onState: (state) => {
      isStreamAlive.set(state === 'live')
      setRefused(state === 'refused')
      if (state === 'lost') markLost()
      else markLive()
    },
    onReset: () => void readAgain(),
    onUnauthenticated: () => hasSessionEnded.set(true),
  })
  return () => {
    stop()
    setRefused(false)
  }
}
