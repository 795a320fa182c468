import { Fault } from '@skerry/fault'
import { checkForm } from '@skerry/serverless-workflow'

import type { WorkflowRequestContext } from '../context.ts'
import type { WorkflowCaller } from '../http/caller.ts'
import type { RunValues } from '../store/database.ts'
import { addExecution, failExecution, keepGrant, type ExecutionRow } from '../store/executions.ts'
import { readVersion, type FoundWorkflow } from '../store/workflows.ts'
import { valuesOf, type Context } from '../values/read.ts'
import { splitSecrets } from '../values/secrets.ts'

/** Validates the inputs against the form and fills in defaults. */
export async function checkRunInput(
  { findInvalid }: Pick<WorkflowRequestContext, 'findInvalid'>,
  form: RunValues | null,
  inputs: Context,
): Promise<RunValues> {
  const checked = await checkForm(form ?? undefined, valuesOf(form, inputs), findInvalid)
  if ('value' in checked) return checked.value
  const reasons = checked.complaints.map(({ field, message }) =>
    field === '' ? message : `${field}: ${message}`,
  )
  throw new Fault('invalid', `invalid inputs: ${reasons.join('; ')}`, {
    hint: 'the presentation of the workflow lists its inputs',
  })
}

const isLeft = ({ state, grant_id: grant, cancel }: ExecutionRow): boolean =>
  state === 'initializing' && grant === null && !cancel

/**
 * Checks the inputs, records the run, asks the cloud for a grant, and starts the run. After the record exists, `tend-runs.ts`
 * completes anything that a crash interrupts. A run that is rejected here is never started later.
 */
export async function startExecution(
  context: WorkflowRequestContext,
  { principal, requestKey }: Pick<WorkflowCaller, 'principal' | 'requestKey'>,
  workflow: FoundWorkflow,
  inputs: Context,
): Promise<{ readonly execution: ExecutionRow; readonly form: RunValues | null }> {
  const id = context.uuid()
  const { form } = await context.as(principal, (tx) => readVersion(tx, workflow))
  const values = await checkRunInput(context, form, inputs)
  const { execution, made } = await context.as(principal, async (tx) => {
    const { input, secrets } = splitSecrets(form, values, (text, name) =>
      context.seal.close(text, `${id}/${name}`),
    )
    return addExecution(tx, principal, {
      id,
      workflow,
      input,
      secrets,
      requestKey,
      most: context.runsPerOrg,
    })
  })
  // A repeated request starts a run that a crash left unstarted.
  if (!made && !isLeft(execution)) return { execution, form }
  try {
    // With the id of the run: a grant whose response was lost is found again, by a repeated request and by `tend-runs.ts`.
    const asked = await context.grants.ask({
      id: execution.id,
      org: workflow.org,
      account: principal.account,
      kind: 'run',
    })
    const grant = await context.as(principal, (tx) => keepGrant(tx, execution, asked))
    await context.runs.start({ execution: execution.id, grant, definition: execution.digest })
  } catch (error) {
    // Another request with the same key may be starting it. If both fail, the run is ended later.
    if (!made) throw error
    const why = error instanceof Fault ? error.message : 'internal error'
    await context.as(principal, (tx) => failExecution(tx, execution, `not started: ${why}`))
    // If this fails, it is repeated later.
    await context.grants.end(execution.id).catch(() => undefined)
    throw error
  }
  return { execution, form }
}
