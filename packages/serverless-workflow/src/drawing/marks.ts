/** The state of a step in a drawing. */
export const stepMarks = ['running', 'done', 'failed', 'skipped', 'canceled'] as const
export type StepMark = (typeof stepMarks)[number]

/** Keyed by the place of a task in its definition (`/do/0/name`). */
export type Marks = ReadonlyMap<string, StepMark>

const after = {
  began: 'running',
  again: 'running',
  ended: 'done',
  skipped: 'skipped',
  failed: 'failed',
  canceled: 'canceled',
} as const

/** Built from the progress records of a run, in order. The last record of a place wins, so that a loop shows its latest round. */
export function marksOf(
  notes: Iterable<{ readonly place: string; readonly what: keyof typeof after }>,
): Marks {
  const marks = new Map<string, StepMark>()
  for (const { place, what } of notes) marks.set(place, after[what])
  return marks
}
