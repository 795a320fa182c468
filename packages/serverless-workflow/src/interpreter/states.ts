/** The state of an execution, in the words that clients of this API parse. */
export const executionStates = [
  'initializing',
  'running',
  'waiting',
  'waiting-signal',
  'suspended',
  'completed',
  'failed',
  'canceled',
] as const
export type ExecutionState = (typeof executionStates)[number]

/** What identifies a run: ids only, so that no tenant data is stored in clear text. */
export interface RunInput {
  readonly execution: string
  /** The grant that authorizes the run's calls. */
  readonly grant: string
  /** The digest of one version, which never changes. */
  readonly definition: string
  /** How deeply this run is nested in other runs. Default: 0. */
  readonly depth?: number
}
