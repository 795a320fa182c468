import { Fault } from '@skerry/fault'
import type { Seal } from '@skerry/service'
import type { Kysely } from 'kysely'

import type { Cells } from '../cloud/cells.ts'
import { askGrant, cloudOf, endGrant } from '../cloud/grants.ts'
import type { Document } from '../definition/definition.ts'
import type { RunInput } from '../durable/states.ts'
import type { Json } from '../durable/verbs.ts'
import { addChildRun, addScheduledRun, type Begun } from '../store/begun-runs.ts'
import type { Database, Values } from '../store/database.ts'
import { failExecution, keepGrant } from '../store/executions.ts'
import { loadDefinition, loadRun, loadSecret } from '../store/load-run.ts'
import { record } from '../store/record.ts'
import { referencesIn } from '../values/secrets.ts'
import type { WorkerWorld } from './activities.ts'
import { callFunction } from './call-function.ts'
import { callHttp } from './call-http.ts'
import type { Evaluator } from './evaluate.ts'

export interface WorkParts {
  readonly db: Kysely<Database>
  readonly cells: Cells
  readonly seal: Seal
  readonly evaluator: Evaluator
  /** The socket of the egress; undefined: nothing of other people is called. */
  readonly egress: string | undefined
  readonly now: () => number
  readonly pause: (ms: number, signal?: AbortSignal) => Promise<void>
}

/** What a worker's steps reach: our rows, the cloud in the name of their run, and the way out. */
export function makeWorkerWorld(parts: WorkParts): WorkerWorld {
  const { db, cells, seal, evaluator, egress, now, pause } = parts
  return {
    evaluate: (ask) => evaluator.evaluate(ask),
    validate: (schema, value) => evaluator.validate(schema, value),
    async loadRun({ execution, definition }) {
      const run = await loadRun(db, execution)
      const { document } = await loadDefinition(db, definition)
      return { document: document as unknown as Document, input: run.input as Json }
    },
    record: (progress) => record(db, progress),
    async beginChild({ parent, key, namespace, name, version, input }) {
      const begun = await addChildRun(db, {
        ...{ parent: parent.execution, key, namespace, name, version },
        ...{ input: input as Values, secrets: referencesIn(input) },
        reseal: (sealed, child, secret) =>
          seal.close(seal.open(sealed, `${parent.execution}/${secret}`), `${child}/${secret}`),
      })
      return { ...(await granted(parts, begun)), depth: (parent.depth ?? 0) + 1 }
    },
    async beginScheduled(schedule, key) {
      const begun = await addScheduledRun(db, schedule, key)
      if (!begun) return undefined
      try {
        return await granted(parts, begun)
      } catch (error) {
        if (!(error instanceof Fault) || !refusals.has(error.kind)) throw error
        await failExecution(db, begun.execution, `it was not started: ${error.message}`)
        return undefined
      }
    },
    endGrant: (grant) => endGrant(cells, grant),
    callFunction: (call, calling) =>
      callFunction(
        { cloud: (grant) => cloudOf(cells, grant), ...{ now, pause, ...calling } },
        call,
      ),
    async callHttp(call, signal) {
      if (egress === undefined) {
        throw new Fault('forbidden', 'this server has no way out to other people’s servers')
      }
      const { org } = await loadRun(db, call.execution)
      return callHttp({ socket: egress, org }, call, signal)
    },
    openSecret: async (execution, name) =>
      seal.open(await loadSecret(db, execution, name), `${execution}/${name}`),
  }
}

/** Whoever made the schedule is gone, or may not any more. */
const refusals = new Set<Fault['kind']>(['forbidden', 'not-found', 'gone', 'unauthenticated'])

/** With leave of its own to act, that ends with it. Asked twice, the first one counts. */
async function granted(
  { db, cells }: Pick<WorkParts, 'db' | 'cells'>,
  { execution, parentGrant: parent }: Begun,
): Promise<RunInput> {
  const { org, account, id, digest: definition } = execution
  if (execution.grant_id !== null) {
    return { execution: id, grant: execution.grant_id, definition }
  }
  const asked = await askGrant(cells, { org, account, kind: 'run', parent })
  const grant = await keepGrant(db, execution, asked)
  if (grant !== asked) await endGrant(cells, asked)
  return { execution: id, grant, definition }
}
