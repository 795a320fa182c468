import { type EventFilter, INTERACTION_EVENT, interactionOf, type ListenTask } from '../dsl.ts'
import { noteAsk, whileWaiting } from '../progress.ts'
import {
  type TaskRunner,
  endOfTime,
  evaluateOne,
  fill,
  type TaskContext,
  isTrue,
  requireTime,
} from '../scope.ts'
import { RunStopped } from '../stop.ts'
import type { Json, RunEvent } from '../verbs.ts'

interface ListenState {
  /** The number of the last event checked. */
  seen?: number
  /** Events taken, keyed by the index of the filter. */
  taken?: Record<number, RunEvent>
  /** Filter indexes in the order of arrival. */
  order?: number[]
  /** The id of the user interaction. */
  interaction?: string
}

/** Includes events that arrived before this task started: a sender does not know how far the run is. */
export const doListen: TaskRunner<ListenTask, ListenState> = async (task, here, kindState) => {
  const { running, place } = here
  const { to, read = 'data' } = task.listen
  const filters = 'one' in to ? [to.one] : 'any' in to ? to.any : to.all
  const enough = 'all' in to ? filters.length : 1
  const question = interactionOf(task)
  if (question !== undefined && kindState.interaction === undefined) {
    kindState.interaction = running.runtime.id()
    const requested = (await fill(here, here.input, question)) as unknown as typeof question
    noteAsk(running, { id: kindState.interaction, place, question: requested })
  }
  const order = (kindState.order ??= [])
  const taken = (kindState.taken ??= {})
  try {
    while (order.length < enough) {
      const event = await nextEvent(here, kindState)
      const found = await matching(here, kindState, filters, event)
      if (found === undefined) continue
      taken[found] = event
      order.push(found)
      running.state.inbox = running.state.inbox.filter((each) => each.event !== event)
    }
  } catch (error) {
    const goesOn = error instanceof RunStopped && error.word === 'leaving'
    if (kindState.interaction !== undefined && !goesOn)
      noteAsk(running, { id: kindState.interaction, place })
    throw error
  }
  if (kindState.interaction !== undefined) noteAsk(running, { id: kindState.interaction, place })
  const events = order.flatMap((n) => taken[n] ?? [])
  return { output: events.map((each) => (read === 'data' ? each.data : envelope(each))) }
}

const envelope = (event: RunEvent): Json => ({ specversion: '1.0', ...event })

/** The next event that this task has not checked. */
async function nextEvent(
  { running, scope, place }: TaskContext,
  kindState: ListenState,
): Promise<RunEvent> {
  for (;;) {
    const seen = kindState.seen ?? 0
    const next = running.state.inbox.find(({ number }) => number > seen)
    if (next !== undefined) {
      kindState.seen = next.number
      return next.event
    }
    await whileWaiting(running, 'listening', scope.stop, async (stop) =>
      running.runtime.eventAfter(seen, endOfTime(running), stop),
    )
    requireTime(running, place)
  }
}

/** The index of the first unmatched filter that accepts this event. */
async function matching(
  here: TaskContext,
  kindState: ListenState,
  filters: readonly EventFilter[],
  event: RunEvent,
): Promise<number | undefined> {
  for (const [n, filter] of filters.entries()) {
    if (kindState.taken?.[n] === undefined && (await matchesEvent(here, kindState, filter, event)))
      return n
  }
  return undefined
}

async function matchesEvent(
  here: TaskContext,
  kindState: ListenState,
  { with: wanted }: EventFilter,
  event: RunEvent,
): Promise<boolean> {
  const { type, source, subject, id, data } = wanted
  const same =
    type === event.type &&
    (source === undefined || source === event.source) &&
    (subject === undefined || subject === event.subject) &&
    (id === undefined || id === event.id) &&
    // A user's answer belongs to one interaction.
    (type !== INTERACTION_EVENT || event.id === kindState.interaction)
  return same && (data === undefined || isTrue(await evaluateOne(here, event.data, data)))
}
