// What a run tells of itself. Notes are gathered and written with the next thing that takes time, so that a task which only
// computes costs no step of its own.
import type { Running } from './scope.ts'
import type { ExecutionState } from './states.ts'
import { below, type Stop } from './stop.ts'
import type { AskNote, Json, Problem, StepNote } from './verbs.ts'

/** So many notes are written even where nothing takes time: a run that only computes can be followed too, and lets others in. */
const MOST_PENDING = 50

/** Notes what a task does, and writes it where enough has come together. */
export async function note(
  running: Running,
  { place, name }: { readonly place: string; readonly name: string },
  what: StepNote['what'],
  text?: string,
): Promise<void> {
  const { state, pending, world } = running
  pending.steps.push({
    ...{ number: ++state.notes, at: world.now(), place, name, what },
    ...(text !== undefined && { text: text.slice(0, 1_000) }),
  })
  if (pending.steps.length >= MOST_PENDING) await tell(running)
}

export function noteAsk(running: Running, ask: AskNote): void {
  running.pending.asks.push(ask)
}

export async function tell(
  running: Running,
  end: { state?: ExecutionState; output?: Json; error?: Problem } = {},
): Promise<void> {
  const { pending, live, world, run } = running
  const { steps, asks } = pending
  const state = end.state ?? stateOf(running)
  if (steps.length + asks.length === 0 && state === live.told) return
  pending.steps = []
  pending.asks = []
  live.told = state
  // One after the other, also where branches tell at once: what comes late by its numbers is not written.
  const before = pending.writing
  const writing = (async () => {
    await before
    await world.record({ ...end, execution: run.execution, state, steps, asks })
  })()
  pending.writing = writing.catch(() => undefined)
  await writing
}

/** A run waits when all its branches do. */
function stateOf({ live }: Running): ExecutionState {
  if (live.waiting + live.listening < live.branches) return 'running'
  return live.listening > 0 ? 'waiting-signal' : 'waiting'
}

/** Around what rests: it can be left at any time, to be gone on with under a new history. */
export async function resting<T>(
  running: Running,
  how: 'waiting' | 'listening',
  stop: Stop,
  work: (stop: Stop) => Promise<T>,
): Promise<T> {
  running.live[how]++
  try {
    await tell(running)
    return await below([stop, running.leave], work)
  } finally {
    running.live[how]--
  }
}

/** Around what works outside: it is waited for. */
export async function calling<T>(running: Running, work: () => Promise<T>): Promise<T> {
  running.live.calling++
  try {
    await tell(running)
    return await work()
  } finally {
    running.live.calling--
  }
}
