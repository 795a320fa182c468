// A run with its drawing and its log, kept up to date while it goes on.
import { useEffect, useState } from 'react'

import type { LiveEvent } from '../../api/event-stream.ts'
import { followRun, type RunListener } from '../../api/run-stream.ts'
import {
  workflowRequest,
  type DrawingDocument,
  type RunDocument,
  type RunLogDocument,
  type RunLogEntry,
} from '../../api/workflows.ts'
import { emptyLog, withLines, type KeptLog } from '../../model/workflows/run-log.ts'
import { hasRunEnded } from '../../model/workflows/workflow-run.ts'
import { notifyError } from '../notifications.ts'
import { queryClient } from '../query-client.ts'
import { hasSessionEnded } from '../session.ts'
import { createStore, useStore, type SharedValue } from '../store.ts'
import { throttled } from '../updates/live-updates.ts'
import { useWorkflowDocument } from './use-workflows.ts'

/** Lines of one request. */
const LINES_READ = 1000
const LINES_MS = 250
const DRAWING_MS = 1000

/** The component must be mounted again for another run: the log is read once, and then continued. */
export function useRun(workflow: string, id: string) {
  const path = `/workflows/${workflow}/executions/${id}`
  const run = useWorkflowDocument<RunDocument>(path)
  const drawing = useWorkflowDocument<DrawingDocument>(`${path}/schema`)
  const [store] = useState(() => createStore(emptyLog))
  const log = useStore(store)
  const isLoggedOut = useStore(hasSessionEnded)
  const isOpen = run.data && !hasRunEnded(run.data.state)
  useEffect(() => {
    if (isOpen === undefined || isLoggedOut) return undefined
    const stop = new AbortController()
    void keepUpToDate({ path, isOpen, log: store }, stop.signal)
    return () => stop.abort()
  }, [path, isOpen, isLoggedOut, store])
  return { path, run, drawing, log }
}

interface FollowedRun {
  readonly path: string
  readonly isOpen: boolean
  readonly log: SharedValue<KeptLog>
}

/** The stream may end before the last lines, so they are also read when the run has ended. */
async function keepUpToDate(run: FollowedRun, signal: AbortSignal): Promise<void> {
  const { path, isOpen, log } = run
  try {
    await readLog(run, signal)
  } catch (error) {
    // The stream of an open run brings what is missing.
    if (!isOpen && !signal.aborted) notifyError('The log of the run was not read', error)
  }
  if (isOpen && !signal.aborted) {
    await followRun(`${path}/events`, listenerOf(path, log, signal), signal)
  }
}

/** Reads the lines after those that the page has. */
async function readLog({ path, log }: FollowedRun, signal: AbortSignal): Promise<void> {
  for (let isMore = true; isMore;) {
    const { logs } = await workflowRequest<RunLogDocument>(
      `${path}/logs?maxResult=${LINES_READ}&after=${log.get().newest}`,
      { signal },
    )
    const before = log.get()
    log.set(
      withLines(
        before,
        logs.map(({ entry }) => entry),
      ),
    )
    isMore = logs.length === LINES_READ && log.get() !== before
  }
}

function listenerOf(path: string, log: SharedValue<KeptLog>, signal: AbortSignal): RunListener {
  const key = ['workflow', path]
  const invalidate = (at: string) =>
    void queryClient.invalidateQueries({ queryKey: ['workflow', at] })
  const refreshDrawing = throttled(DRAWING_MS, () => invalidate(`${path}/schema`))
  let waiting: RunLogEntry[] = []
  const showLines = throttled(LINES_MS, () => {
    // Where the stream was stopped, the next reader brings these lines.
    if (!signal.aborted) log.set(withLines(log.get(), waiting))
    waiting = []
  })
  return {
    after: log.get().newest,
    goesOn() {
      const now = queryClient.getQueryData<RunDocument>(key)
      return now !== undefined && !hasRunEnded(now.state)
    },
    onEvent(event, line) {
      if (event.event === 'interaction') return invalidate(`${path}/interaction`)
      if (event.event === 'execution') queryClient.setQueryData(key, event.data)
      if (event.event === 'log') {
        waiting.push(entryOf(event, line))
        showLines()
      }
      return refreshDrawing()
    },
    onGone: () => invalidate(path),
  }
}

const entryOf = ({ data }: LiveEvent, number: number): RunLogEntry => ({
  number,
  'time-stamp': String(data['at']),
  severity: String(data['severity']),
  'short-description': String(data['summary']),
  'long-description': String(data['detail']),
  origin: String(data['origin']),
})
