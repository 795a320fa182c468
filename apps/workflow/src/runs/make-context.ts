import { Fault } from '@skerry/fault'
import type { Evaluator } from '@skerry/jq'
import type { DefinitionDocument, RunInput, Json } from '@skerry/serverless-workflow'
import type { Seal } from '@skerry/service'
import type { Kysely } from 'kysely'

import type { Cells } from '../cloud/cells.ts'
import { askGrant, cloudOf, endGrant } from '../cloud/grants.ts'
import { callFunction } from '../functions/call-function.ts'
import { addChildRun, addScheduledRun, type StartedRun } from '../store/begun-runs.ts'
import type { WorkflowTables, RunValues } from '../store/database.ts'
import { failExecution, keepGrant, markGrantEnded } from '../store/executions.ts'
import { loadDefinition, loadRun, loadSecret } from '../store/load-run.ts'
import { record } from '../store/record.ts'
import { referencesIn } from '../values/secrets.ts'
import type { WorkflowWorkerContext } from './activities.ts'
import { callHttp } from './call-http.ts'

export interface WorkParts {
  readonly db: Kysely<WorkflowTables>
  readonly cells: Cells
  readonly seal: Seal
  readonly evaluator: Evaluator
  /** The socket of the egress; undefined: no external servers can be called. */
  readonly egress: string | undefined
  readonly now: () => number
  readonly pause: (ms: number, signal?: AbortSignal) => Promise<void>
}

/** The context of activities: the database, the cloud on behalf of their run, and the egress. */
export function makeWorkerContext(parts: WorkParts): WorkflowWorkerContext {
  const { db, cells, seal, evaluator, egress, now, pause } = parts
  return {
    evaluate: (ask) => evaluator.evaluate(ask),
    validate: (schema, value) => evaluator.validate(schema, value),
    async loadRun({ execution, definition }) {
      const run = await loadRun(db, execution)
      const { document } = await loadDefinition(db, definition)
      return { document: document as unknown as DefinitionDocument, input: run.input as Json }
    },
    record: (progress) => record(db, progress),
    async beginChild({ parent, key, namespace, name, version, input }) {
      const begun = await addChildRun(db, {
        parent: parent.execution,
        key,
        namespace,
        name,
        version,
        input: input as RunValues,
        secrets: referencesIn(input),
        reseal: (sealed, child, secret) =>
          seal.close(seal.open(sealed, `${parent.execution}/${secret}`), `${child}/${secret}`),
      })
      return { ...(await grantFor(parts, begun)), depth: (parent.depth ?? 0) + 1 }
    },
    async beginScheduled(schedule, key) {
      const begun = await addScheduledRun(db, schedule, key)
      if (!begun) return undefined
      try {
        return await grantFor(parts, begun)
      } catch (error) {
        if (!(error instanceof Fault) || !refusals.has(error.kind)) throw error
        await failExecution(db, begun.execution, `not started: ${error.message}`)
        return undefined
      }
    },
    async endGrant(grant) {
      await endGrant(cells, grant)
      await markGrantEnded(db, grant)
    },
    callFunction: (call, calling) =>
      callFunction({ cloud: (grant) => cloudOf(cells, grant), now, pause, ...calling }, call),
    async callHttp(call, signal) {
      if (egress === undefined) {
        throw new Fault('forbidden', 'this server has no egress configured')
      }
      const { org } = await loadRun(db, call.execution)
      return callHttp({ socket: egress, org }, call, signal)
    },
    openSecret: async (execution, name) =>
      seal.open(await loadSecret(db, execution, name), `${execution}/${name}`),
  }
}

/** The owner of the schedule is deleted or lost the permission. */
const refusals = new Set<Fault['kind']>(['forbidden', 'not-found', 'gone', 'unauthenticated'])

/** Gets the run's own grant, which has the id of the run and ends with it. */
async function grantFor(
  { db, cells }: Pick<WorkParts, 'db' | 'cells'>,
  { execution, parentGrant: parent }: StartedRun,
): Promise<RunInput> {
  const { org, account, id, digest: definition } = execution
  if (execution.grant_id !== null) {
    return { execution: id, grant: execution.grant_id, definition }
  }
  const grant = await keepGrant(
    db,
    execution,
    await askGrant(cells, { id, org, account, kind: 'run', parent }),
  )
  return { execution: id, grant, definition }
}
