import { type EventFilter, INTERACTION_EVENT, interactionOf, type ListenTask } from '../dsl.ts'
import { noteAsk, resting } from '../progress.ts'
import { type Do, endOfTime, evaluateOne, fill, type Here, isTrue, requireTime } from '../scope.ts'
import { Stopped } from '../stop.ts'
import type { Json, RunEvent } from '../verbs.ts'

interface ListenMark {
  /** The number of the last event that was looked at. */
  seen?: number
  /** By the filter's place in the list. */
  taken?: Record<number, RunEvent>
  /** In the order in which they came. */
  order?: number[]
  /** What a person is asked by. */
  interaction?: string
}

/** Events that came before anybody listened are there too: whoever sends one does not know how far the run is. */
export const doListen: Do<ListenTask, ListenMark> = async (task, here, own) => {
  const { running, place } = here
  const { to, read = 'data' } = task.listen
  const filters = 'one' in to ? [to.one] : 'any' in to ? to.any : to.all
  const enough = 'all' in to ? filters.length : 1
  const question = interactionOf(task)
  if (question !== undefined && own.interaction === undefined) {
    own.interaction = running.world.id()
    const asked = (await fill(here, here.input, question)) as unknown as typeof question
    noteAsk(running, { id: own.interaction, place, question: asked })
  }
  const order = (own.order ??= [])
  const taken = (own.taken ??= {})
  try {
    while (order.length < enough) {
      const event = await nextEvent(here, own)
      const found = await matching(here, own, filters, event)
      if (found === undefined) continue
      taken[found] = event
      order.push(found)
      running.state.inbox = running.state.inbox.filter((each) => each.event !== event)
    }
  } catch (error) {
    const goesOn = error instanceof Stopped && error.word === 'leaving'
    if (own.interaction !== undefined && !goesOn) noteAsk(running, { id: own.interaction, place })
    throw error
  }
  if (own.interaction !== undefined) noteAsk(running, { id: own.interaction, place })
  const events = order.flatMap((n) => taken[n] ?? [])
  return { output: events.map((each) => (read === 'data' ? each.data : envelope(each))) }
}

const envelope = (event: RunEvent): Json => ({ specversion: '1.0', ...event })

/** The next event that this task has not looked at. */
async function nextEvent({ running, scope, place }: Here, own: ListenMark): Promise<RunEvent> {
  for (;;) {
    const seen = own.seen ?? 0
    const next = running.state.inbox.find(({ number }) => number > seen)
    if (next !== undefined) {
      own.seen = next.number
      return next.event
    }
    await resting(running, 'listening', scope.stop, async (stop) =>
      running.world.eventAfter(seen, endOfTime(running), stop),
    )
    requireTime(running, place)
  }
}

/** Which of the filters that have none yet takes this event. */
async function matching(
  here: Here,
  own: ListenMark,
  filters: readonly EventFilter[],
  event: RunEvent,
): Promise<number | undefined> {
  for (const [n, filter] of filters.entries()) {
    if (own.taken?.[n] === undefined && (await takes(here, own, filter, event))) return n
  }
  return undefined
}

async function takes(
  here: Here,
  own: ListenMark,
  { with: wanted }: EventFilter,
  event: RunEvent,
): Promise<boolean> {
  const { type, source, subject, id, data } = wanted
  const same =
    type === event.type &&
    (source === undefined || source === event.source) &&
    (subject === undefined || subject === event.subject) &&
    (id === undefined || id === event.id) &&
    // A person's answer is for the question that it was given to.
    (type !== INTERACTION_EVENT || event.id === own.interaction)
  return same && (data === undefined || isTrue(await evaluateOne(here, event.data, data)))
}
