import type { CellDocument } from '../api/documents.ts'

/** dead: it sends no heartbeats. unfit: it may not follow hosts. warning: it works, but a check fails. */
export type CellState = 'good' | 'warning' | 'unfit' | 'dead'

export function cellStateOf({ isAlive, isFit, condition = [] }: CellDocument): CellState {
  if (!isAlive) return 'dead'
  if (!isFit) return 'unfit'
  return condition.every(({ isOk }) => isOk) ? 'good' : 'warning'
}
