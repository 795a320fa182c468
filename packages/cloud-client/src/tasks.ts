import { Fault, passing } from '@skerry/fault'
import { attribute, childrenByLocalName, localName, text, type Element } from '@skerry/xml'

import { linkOf, type Cloud } from './cloud.ts'
import { faultIn } from './revive-fault.ts'

/** How a wait passes its time; handed in, so that no clock is read here. */
export interface Waiting {
  /** Milliseconds that never go back. */
  readonly now: () => number
  /** Ends early, and quietly, when the signal says so. */
  readonly pause: (ms: number, signal?: AbortSignal) => Promise<void>
  /** Not to wait any longer; the task goes on. */
  readonly signal?: AbortSignal
  /** After so long it is given up; the task goes on. */
  readonly withinMs?: number
  readonly progress?: (percent: number) => void
}

export interface EndedTask {
  readonly href: string
  /** What it was done to. */
  readonly owner: { readonly id: string; readonly name: string; readonly href: string | undefined }
  /** What there is to say about how it was done. */
  readonly details: string | undefined
}

/** The task itself has ended so: whatever the reason, asking for it again finds the same end. */
export class TaskFailed extends Fault {}

const FIRST_MS = 100
const SLOWER = 1.5
const LONGEST_MS = 2_000
/** The cloud may be away for so long while one waits: it comes back, and the task has gone on. */
const AWAY_MS = 60_000

/** The Task in an answer, or the answer itself. */
export function taskIn(document: Element): Element | undefined {
  if (localName(document.name) === 'Task') return document
  const [tasks] = childrenByLocalName(document, 'Tasks')
  return childrenByLocalName(tasks, 'Task')[0]
}

/** Asks again and again, ever more slowly, until the task has ended: as it should, or with a Fault. */
export async function waitTask(cloud: Cloud, task: Element, waiting: Waiting): Promise<EndedTask> {
  const { now, pause, signal, withinMs, progress } = waiting
  const href = attribute(task, 'href') ?? ''
  const began = now()
  let seen = now()
  let last = task
  for (let ms = FIRST_MS; ; ms = Math.min(ms * SLOWER, LONGEST_MS)) {
    const status = attribute(last, 'status') ?? ''
    progress?.(Number(text(childrenByLocalName(last, 'Progress')[0]) ?? 0))
    if (status === 'success') return endedOf(last, href)
    if (status === 'error') throw failureOf(last)
    if (status === 'canceled') throw new TaskFailed('canceled', 'the task was canceled')
    signal?.throwIfAborted()
    if (withinMs !== undefined && now() - began > withinMs) {
      throw new Fault('timed-out', `the task has not ended within ${withinMs} ms, and goes on`)
    }
    await pause(ms, signal)
    signal?.throwIfAborted()
    try {
      last = await cloud.get(href, signal)
      seen = now()
    } catch (error) {
      signal?.throwIfAborted()
      const passes = error instanceof Fault && passing.has(error.kind)
      if (!passes || now() - seen > AWAY_MS) throw error
    }
  }
}

function endedOf(task: Element, href: string): EndedTask {
  const [owner] = childrenByLocalName(task, 'Owner')
  const said = (name: string) => attribute(owner, name)
  return {
    href,
    owner: { id: said('id') ?? '', name: said('name') ?? '', href: said('href') },
    details: text(childrenByLocalName(task, 'Details')[0]),
  }
}

function failureOf(task: Element): TaskFailed {
  const [error] = childrenByLocalName(task, 'Error')
  if (!error) return new TaskFailed('unavailable', 'the task failed and did not say why')
  const { kind, message } = faultIn(error)
  return new TaskFailed(kind, message)
}

/** Asks the cloud to turn it back. Of one that has ended, or goes forward only, nothing comes of it. */
export async function cancelTask(cloud: Cloud, href: string): Promise<void> {
  const cancel = linkOf(await cloud.get(href), 'task:cancel')
  if (cancel === undefined) return
  try {
    await cloud.act('POST', cancel)
  } catch (error) {
    // It ended meanwhile.
    if (!(error instanceof Fault) || !['conflict', 'wrong-state'].includes(error.kind)) throw error
  }
}
