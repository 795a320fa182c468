// The operations that a run may call. Mostly types: importers of this file are replayed by Temporal.
import type { Evaluated, Evaluation, Json } from '@skerry/jq'
import type {
  ChildRun,
  FunctionCall,
  HttpAnswer,
  HttpCall,
  LoadedRun,
  RunInput,
  RunProgress,
} from '@skerry/serverless-workflow'

/** The failure type whose first detail is a Problem: a definition may catch it. */
export const PROBLEM = 'problem'

/** The Temporal workflow id of a run. */
export const workflowIdOf = (execution: string): string => `run/${execution}`

/**
 * The steps of a run, each recorded by Temporal with its result. All but `callFunction` and `callHttp` are short, change nothing
 * outside our own database, and can be repeated at any time.
 */
export interface RunActivities {
  /** The version that is run, and its input. */
  loadRun(run: RunInput): Promise<LoadedRun>
  /** Evaluates several jq expressions on the same value. Each result is a value or an error. */
  evaluate(ask: Evaluation): Promise<readonly Evaluated[]>
  /** Validates a value against a JSON Schema; [] if valid. */
  validate(schema: object, value: Json): Promise<readonly string[]>
  /** Calls a `skerry.*` function. The key is the same for every attempt of this step. */
  callFunction(call: FunctionCall): Promise<Json>
  /** Sends a request through the egress. Any status is a result. */
  callHttp(call: HttpCall): Promise<HttpAnswer>
  /** Records the progress of a run. Notes with numbers that were already written are skipped. */
  record(progress: RunProgress): Promise<void>
  /** Creates the execution and grant of a child run. Idempotent for the same key. */
  beginChild(child: ChildRun): Promise<RunInput>
  /** Creates a run of a schedule; undefined: the schedule is deleted, or its owner lost the permission. */
  beginScheduled(schedule: string, key: string): Promise<RunInput | undefined>
  /** Ends the grant of a run; nothing is authorized by it afterwards. */
  endGrant(grant: string): Promise<void>
}
