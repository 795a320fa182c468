// Progress reports of a run. Notes are collected and written together with the next operation that takes time, so that a task
// that only computes costs no extra step.
import type { Run } from './scope.ts'
import type { ExecutionState } from './states.ts'
import { withAnyStop, type Stop } from './stop.ts'
import type { AskNote, Json, Problem, StepNote } from './verbs.ts'

/** Notes are written at this count even without such an operation: a run that only computes is visible too, and yields to others. */
const MOST_PENDING = 50

/** Adds a progress note of a task, and writes the notes if enough have been collected. */
export async function addStepNote(
  running: Run,
  { place, name }: { readonly place: string; readonly name: string },
  what: StepNote['what'],
  text?: string,
): Promise<void> {
  const { state, pending, runtime } = running
  pending.steps.push({
    number: ++state.notes,
    at: runtime.now(),
    place,
    name,
    what,
    ...(text !== undefined && { text: text.slice(0, 1_000) }),
  })
  if (pending.steps.length >= MOST_PENDING) await report(running)
}

export function noteAsk(running: Run, ask: AskNote): void {
  running.pending.asks.push(ask)
}

export async function report(
  running: Run,
  end: { state?: ExecutionState; output?: Json; error?: Problem } = {},
): Promise<void> {
  const { pending, live, runtime, run } = running
  const { steps, asks } = pending
  const state = end.state ?? stateOf(running)
  if (steps.length + asks.length === 0 && state === live.reported) return
  pending.steps = []
  pending.asks = []
  live.reported = state
  // Write in order, also for concurrent branches: a record with an older number is ignored.
  const before = pending.writing
  const writing = (async () => {
    await before
    await runtime.record({ ...end, execution: run.execution, state, steps, asks })
  })()
  pending.writing = writing.catch(() => undefined)
  await writing
}

/** A run is waiting if all its branches are. */
function stateOf({ live }: Run): ExecutionState {
  if (live.waiting + live.listening < live.branches) return 'running'
  return live.listening > 0 ? 'waiting-signal' : 'waiting'
}

/** Wraps waiting work: it can be abandoned at any time and resumed under a new history. */
export async function whileWaiting<T>(
  running: Run,
  how: 'waiting' | 'listening',
  stop: Stop,
  work: (stop: Stop) => Promise<T>,
): Promise<T> {
  running.live[how]++
  try {
    await report(running)
    return await withAnyStop([stop, running.leave], work)
  } finally {
    running.live[how]--
  }
}

/** Wraps a call to the outside: the run waits for it before it moves to a new history. */
export async function whileCalling<T>(running: Run, work: () => Promise<T>): Promise<T> {
  running.live.calling++
  try {
    await report(running)
    return await work()
  } finally {
    running.live.calling--
  }
}
