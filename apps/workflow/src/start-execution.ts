import { Fault } from '@skerry/fault'

import { checkForm } from './definition/inputs.ts'
import type { Asker } from './http/asker.ts'
import type { Values } from './store/database.ts'
import { addExecution, failExecution, keepGrant, type ExecutionRow } from './store/executions.ts'
import { readVersion, type FoundWorkflow } from './store/workflows.ts'
import { valuesOf, type Context } from './values/read.ts'
import { splitSecrets } from './values/secrets.ts'
import type { RequestWorld } from './world.ts'

/** What was given, found to fit the form, with defaults filled in. */
export function checkGiven(form: Values | null, context: Context): Values {
  const checked = checkForm(form ?? undefined, valuesOf(form, context))
  if ('value' in checked) return checked.value
  const told = checked.complaints.map(({ field, message }) =>
    field === '' ? message : `${field}: ${message}`,
  )
  throw new Fault('invalid', `the inputs do not fit: ${told.join('; ')}`, {
    hint: 'the presentation of the workflow says what it takes',
  })
}

/**
 * Checks the inputs, writes the run down, asks the cloud in whose name it acts, and starts it. Whatever is lost after it was written
 * down is caught up by `tend-runs.ts`; what is refused here is not started later.
 */
export async function startExecution(
  world: RequestWorld,
  { who, requestKey }: Pick<Asker, 'who' | 'requestKey'>,
  workflow: FoundWorkflow,
  context: Context,
): Promise<{ readonly execution: ExecutionRow; readonly form: Values | null }> {
  const id = world.uuid()
  const { execution, made, form } = await world.as(who, async (tx) => {
    const { form } = await readVersion(tx, workflow)
    const given = checkGiven(form, context)
    const { input, secrets } = splitSecrets(form, given, (text, name) =>
      world.seal.close(text, `${id}/${name}`),
    )
    const added = await addExecution(tx, who, {
      ...{ id, workflow, input, secrets, requestKey, most: world.runsPerOrg },
    })
    return { ...added, form }
  })
  if (!made) return { execution, form }
  let given: string | undefined
  try {
    const grant = await world.grants.ask({
      ...{ org: workflow.org, account: who.account, kind: 'run' },
    })
    given = grant
    await world.as(who, (tx) => keepGrant(tx, execution, grant))
    await world.runs.start({ execution: id, grant, definition: execution.digest })
  } catch (error) {
    const why = error instanceof Fault ? error.message : 'a mistake of ours'
    await world.as(who, (tx) => failExecution(tx, execution, `it was not started: ${why}`))
    if (given !== undefined) await world.grants.end(given).catch(() => undefined)
    throw error
  }
  return { execution, form }
}
