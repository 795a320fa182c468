import { Fault, retryableKinds } from '@skerry/fault'
import { attribute, childrenByLocalName, localName, text, type Element } from '@skerry/xml'

import { linkOf, type Cloud } from './cloud.ts'
import { faultIn } from './revive-fault.ts'

/** Clock and limits of a wait; injected, so that no clock is read here. */
export interface Waiting {
  /** Monotonic milliseconds. */
  readonly now: () => number
  /** Returns early, without an error, when the signal aborts. */
  readonly pause: (ms: number, signal?: AbortSignal) => Promise<void>
  /** Stops the wait; the task continues. */
  readonly signal?: AbortSignal
  /** Time limit of the wait; the task continues. */
  readonly withinMs?: number
  /** `wait`: what the task waits for, if it waits. */
  readonly progress?: (percent: number, wait?: SeenWait) => void
}

/** Why a task makes no progress. */
export interface SeenWait {
  readonly reason: string
  readonly message: string
  /** What the user can do about it. */
  readonly next: string
  readonly since: string | undefined
  /** How often the current step was attempted and failed. */
  readonly attempts: number
  readonly lastFailure: string | undefined
  readonly lastFailureAt: string | undefined
  /** When the task rolls back; undefined: it waits until it is canceled. */
  readonly givesUpAt: string | undefined
}

/** What a task waits for; undefined if it does not wait. */
export function waitIn(task: Element): SeenWait | undefined {
  const [waiting] = childrenByLocalName(task, 'Waiting')
  if (!waiting) return undefined
  const said = (name: string) => attribute(waiting, name)
  return {
    reason: said('reason') ?? '',
    message: said('message') ?? '',
    next: said('next') ?? '',
    since: said('since'),
    attempts: Number(said('attempts') ?? 0),
    lastFailure: said('lastFailure'),
    lastFailureAt: said('lastFailureAt'),
    givesUpAt: said('givesUpAt'),
  }
}

export interface EndedTask {
  readonly href: string
  /** The resource of the task. */
  readonly owner: { readonly id: string; readonly name: string; readonly href: string | undefined }
  /** Remarks on the result. */
  readonly details: string | undefined
}

/** The task itself failed or was canceled: reading it again returns the same result. */
export class TaskFailed extends Fault {}

const FIRST_MS = 100
const SLOWER = 1.5
const LONGEST_MS = 2_000
/** How long the cloud may be unreachable during a wait; the task continues meanwhile. */
const AWAY_MS = 60_000

/** The Task in a response, or the response itself. */
export function taskIn(document: Element): Element | undefined {
  if (localName(document.name) === 'Task') return document
  const [tasks] = childrenByLocalName(document, 'Tasks')
  return childrenByLocalName(tasks, 'Task')[0]
}

/** Polls with increasing intervals until the task ends; throws a Fault if it failed. */
export async function waitTask(cloud: Cloud, task: Element, waiting: Waiting): Promise<EndedTask> {
  const { now, pause, signal, withinMs, progress } = waiting
  const href = attribute(task, 'href') ?? ''
  const began = now()
  let seen = now()
  let last = task
  for (let ms = FIRST_MS; ; ms = Math.min(ms * SLOWER, LONGEST_MS)) {
    const status = attribute(last, 'status') ?? ''
    progress?.(Number(text(childrenByLocalName(last, 'Progress')[0]) ?? 0), waitIn(last))
    if (status === 'success') return endedOf(last, href)
    if (status === 'error') throw failureOf(last)
    if (status === 'canceled') throw new TaskFailed('canceled', 'the task was canceled')
    signal?.throwIfAborted()
    if (withinMs !== undefined && now() - began > withinMs) {
      throw new Fault('timed-out', `the task did not end within ${withinMs} ms and continues`)
    }
    await pause(ms, signal)
    signal?.throwIfAborted()
    try {
      last = await cloud.get(href, signal)
      seen = now()
    } catch (error) {
      signal?.throwIfAborted()
      const passes = error instanceof Fault && retryableKinds.has(error.kind)
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
  if (!error) return new TaskFailed('unavailable', 'the task failed without a reason')
  const { kind, message } = faultIn(error)
  return new TaskFailed(kind, message)
}

/** Cancels a task. Has no effect on one that ended or passed the point of no return. */
export async function cancelTask(cloud: Cloud, href: string): Promise<void> {
  const cancel = linkOf(await cloud.get(href), 'task:cancel')
  if (cancel === undefined) return
  try {
    await cloud.act('POST', cancel)
  } catch (error) {
    // The task ended meanwhile.
    if (!(error instanceof Fault) || !['conflict', 'wrong-state'].includes(error.kind)) throw error
  }
}
