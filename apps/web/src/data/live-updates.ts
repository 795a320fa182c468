// Brings events into the cache: a visible row changes at once, lists and documents are read again.
import type { LiveEvent } from '../api/event-stream.ts'
import { followEvents } from '../api/event-stream.ts'
import type { QueryPage } from '../api/query.ts'
import { powerOfWord } from '../model/power.ts'
import type { ListedVm } from '../model/vm.ts'
import { markLive, markLost } from './connection.ts'
import { reportFailure } from './own-tasks.ts'
import { queryClient } from './query-client.ts'
import { hasSessionEnded } from './session.ts'

const LISTS_MS = 1500
const TASKS_MS = 250

/** Runs at most once in this time, however often it is called. */
function throttled(ms: number, run: () => void): () => void {
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

function onEvent({ event, data }: LiveEvent): void {
  const vm = typeof data['vm'] === 'string' ? `vm-${data['vm']}` : undefined
  const task = typeof data['task'] === 'string' ? data['task'] : undefined
  if (event === 'vm.status' && vm !== undefined)
    changeRow(vm, { power: powerOfWord(String(data['status'])) })
  if (event.startsWith('task.')) {
    refreshTasks()
    const isOpen = event === 'task.queued' || event === 'task.running'
    if (vm !== undefined) changeRow(vm, { isBusy: isOpen })
    if (event === 'task.error' && task !== undefined) void reportFailure(task)
  }
  if (vm !== undefined) invalidate('vm', vm)
  if (!event.startsWith('task.') || !event.endsWith('ing')) refreshLists()
}

/** Follows the events until it is stopped. */
export const startLiveUpdates = (): (() => void) =>
  followEvents('/api/events', {
    onEvent,
    onState: (state) => (state === 'live' ? markLive() : markLost()),
    onReset: () => void queryClient.invalidateQueries(),
    onUnauthenticated: () => hasSessionEnded.set(true),
  })
