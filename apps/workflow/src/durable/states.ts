/** How an execution stands, in the words that clients of this family parse. */
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

/** What Temporal is given at the start of a run: ids only, so that nothing of a tenant stands in clear text anywhere. */
export interface RunInput {
  readonly execution: string
  /** Of the cloud: in whose name calls are made. */
  readonly grant: string
  /** One version, which never changes: its digest. */
  readonly definition: string
  /** How many runs this one is inside of; none unless told. */
  readonly depth?: number
}

/** The id of a run at Temporal. */
export const workflowIdOf = (execution: string): string => `run/${execution}`
