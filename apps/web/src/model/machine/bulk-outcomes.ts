// What became of one action on several VMs.
import type { ActionName } from '../actions.ts'

export interface BulkOutcome {
  readonly state: 'waiting' | 'running' | 'done' | 'failed'
  /** Why it failed. */
  readonly reason?: string
}

interface OutcomeRow extends BulkOutcome {
  readonly id: string
  readonly name: string
}

export interface BulkRun {
  readonly id: symbol
  readonly action: ActionName
  readonly rows: readonly OutcomeRow[]
}

export const noOutcomes = (
  action: ActionName,
  vms: readonly { readonly id: string; readonly name: string }[],
): BulkRun => ({
  id: Symbol(action),
  action,
  rows: vms.map(({ id, name }) => ({ id, name, state: 'waiting' })),
})

export const withOutcome = (run: BulkRun, vm: string, outcome: BulkOutcome): BulkRun => ({
  ...run,
  rows: run.rows.map((row) => (row.id === vm ? { id: row.id, name: row.name, ...outcome } : row)),
})

export const failedIn = ({ rows }: BulkRun): readonly OutcomeRow[] =>
  rows.filter(({ state }) => state === 'failed')

export const hasBulkEnded = ({ rows }: BulkRun): boolean =>
  rows.every(({ state }) => state === 'done' || state === 'failed')
