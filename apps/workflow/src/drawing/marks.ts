/** How a step stands, as a drawing shows it. */
export const stepMarks = ['running', 'done', 'failed', 'skipped', 'canceled'] as const
export type StepMark = (typeof stepMarks)[number]

/** By the place of a task in its definition (`/do/0/name`). */
export type Marks = ReadonlyMap<string, StepMark>

const after = {
  began: 'running',
  again: 'running',
  ended: 'done',
  skipped: 'skipped',
  failed: 'failed',
  canceled: 'canceled',
} as const

/** From what a run wrote down, in its order: the last word on a place counts, so that a loop shows its newest round. */
export function marksOf(
  notes: Iterable<{ readonly place: string; readonly what: keyof typeof after }>,
): Marks {
  const marks = new Map<string, StepMark>()
  for (const { place, what } of notes) marks.set(place, after[what])
  return marks
}
