// Documents that pages read, each under a fixed key, so that events can say which of them are old.
import { keepPreviousData, useQuery } from '@tanstack/react-query'

import { pathOf, request } from '../api/client.ts'
import type { TaskDocument } from '../api/documents.ts'
import { isOpen, taskOfDocument } from '../model/task.ts'
import { isStreamAlive } from './connection.ts'
import { source } from './source.ts'
import { useStore } from './store.ts'
import { useRead } from './use-read.ts'

export const readVm = (id: string, signal?: AbortSignal) => source().readVm(id, signal)

export const useVm = (id: string) =>
  useRead({
    queryKey: ['vm', id],
    queryFn: ({ signal }) => readVm(id, signal),
    enabled: id !== '',
    placeholderData: (previous) => (previous?.id === id ? previous : undefined),
  })

const PROGRESS_MS = 1000

/**
 * The latest tasks. The event stream of a cloud reports their progress; only without it the list is read every second while a task
 * runs. The events of a machine have no progress, so its list is always read then.
 */
export function useTasks() {
  const isAlive = useStore(isStreamAlive)
  return useRead({
    queryKey: ['tasks'],
    queryFn: ({ signal }) => source().readTasks(signal),
    refetchInterval: ({ state }) =>
      !isAlive && state.data?.tasks.some(isOpen) ? PROGRESS_MS : false,
  })
}

/** One task; without the event stream it is read every second while it runs. */
export function useTask(id: string) {
  const isAlive = useStore(isStreamAlive)
  return useRead({
    queryKey: ['tasks', id],
    queryFn: async ({ signal }) =>
      taskOfDocument(await request<TaskDocument>(`/api/task/${id}`, { signal })),
    refetchInterval: ({ state }) =>
      !isAlive && state.data && isOpen(state.data) ? PROGRESS_MS : false,
  })
}

/** Why a task failed: records of the query service do not contain it. */
export const useTaskError = (href: string, isFailed: boolean) =>
  useQuery({
    queryKey: ['task', href],
    queryFn: async ({ signal }) =>
      (await request<TaskDocument>(href, { signal })).error?.message ?? null,
    enabled: isFailed,
    staleTime: Number.POSITIVE_INFINITY,
  })

/** As often as hosts measure. */
const METRICS_MS = 15_000

/** The last hour of a running VM. A tab that is not visible does not ask. An error beside data means that the data is old. */
export const useMetrics = (id: string, isEnabled: boolean) =>
  useQuery({
    queryKey: ['metrics', id],
    queryFn: ({ signal }) => source().readMetrics(id, signal),
    enabled: isEnabled,
    refetchInterval: METRICS_MS,
    staleTime: 0,
  })

/** `everyMs`: read again that often while the tab is visible; for what no event reports. */
export const useDocument = <T>(href: string | undefined, everyMs?: number) =>
  useRead({
    queryKey: ['document', pathOf(href ?? '')],
    queryFn: ({ signal }) => request<T>(href ?? '', { signal }),
    enabled: href !== undefined,
    refetchInterval: everyMs ?? false,
    placeholderData: keepPreviousData,
  })
