// The events of one run of a workflow. The server ends the stream with the run.
import { readStream, type LiveEvent } from './event-stream.ts'
import { WORKFLOW_API } from './workflows.ts'

const AGAIN_MS = 1000

export interface RunListener {
  readonly onEvent: (event: LiveEvent) => void
  /** Whether the run goes on, and its stream is opened again after a break. */
  readonly goesOn: () => boolean
}

/** Follows a run until it ends; returns a function that stops. */
export function followRun(path: string, { onEvent, goesOn }: RunListener): () => void {
  const stop = new AbortController()
  void (async () => {
    let last: string | undefined
    const reader = {
      path: `${WORKFLOW_API}${path}`,
      signal: stop.signal,
      onOpen: () => undefined,
      onEvent,
      onId: (id: string) => {
        last = id
      },
    }
    while (!stop.signal.aborted && goesOn()) {
      await readStream(reader, last).catch(() => undefined)
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
    }
  })()
  return () => stop.abort()
}
