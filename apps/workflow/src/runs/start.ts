// Controls runs in Temporal. Ids contain no tenant data, and no memo or search attribute is set.
import { Fault } from '@skerry/fault'
import {
  INTERACTION_EVENT,
  RUN_LIMITS,
  type RunInput,
  type Json,
  type RunEvent,
} from '@skerry/serverless-workflow'
import { isAlreadyStarted, isNoRun, type TemporalClient } from '@skerry/temporal'

import { workflowIdOf } from '../durable/run-activities.ts'

const DAY_MS = 24 * 3_600_000

/** Starts a run; a run that exists already, ended or not, is not started again. */
export async function startRun(
  temporal: TemporalClient,
  run: RunInput,
  taskQueue: string,
): Promise<void> {
  try {
    await temporal.within((client) =>
      client.workflow.start('runDefinition', {
        taskQueue,
        workflowId: workflowIdOf(run.execution),
        args: [run],
        workflowIdReusePolicy: 'REJECT_DUPLICATE',
        workflowTaskTimeout: '5s',
        // The run reports its own timeout; this one is for a run that cannot.
        workflowExecutionTimeout: RUN_LIMITS.runMs + DAY_MS,
      }),
    )
  } catch (error) {
    if (!isAlreadyStarted(error)) throw error
  }
}

/** Asks a run to cancel itself and its work. A run that has ended is not changed. */
export async function cancelRun(temporal: TemporalClient, execution: string): Promise<void> {
  await unlessGone(
    temporal.within((client) => client.workflow.getHandle(workflowIdOf(execution)).cancel()),
  )
}

/** Sends an event to a run. Returns whether the run is active. */
export async function signalEvent(
  temporal: TemporalClient,
  execution: string,
  event: RunEvent,
): Promise<boolean> {
  if (JSON.stringify(event).length > RUN_LIMITS.valueBytes) {
    throw new Fault(
      'invalid',
      `an event or an answer may have at most ${RUN_LIMITS.valueBytes} bytes`,
    )
  }
  return unlessGone(
    temporal.within((client) =>
      client.workflow.getHandle(workflowIdOf(execution)).signal('event', event),
    ),
  )
}

/** Sends a user's answer as the event that the run waits for. */
export async function answerInteraction(
  temporal: TemporalClient,
  execution: string,
  { interaction, by, answer }: { interaction: string; by: string; answer: Json },
): Promise<boolean> {
  const event = { id: interaction, type: INTERACTION_EVENT, source: 'skerry', subject: by }
  return signalEvent(temporal, execution, { ...event, data: answer })
}

/**
 * Whether Temporal still runs it. A run records its end in our database before it ends in Temporal. So a run that is not active and
 * has no recorded end was lost: with Temporal's database, or because its history did not match the code.
 */
export async function goesOn(temporal: TemporalClient, execution: string): Promise<boolean> {
  try {
    const { status } = await temporal.within((client) =>
      client.workflow.getHandle(workflowIdOf(execution)).describe(),
    )
    return status.name === 'RUNNING'
  } catch (error) {
    if (!isNoRun(error)) throw error
    return false
  }
}

async function unlessGone(work: Promise<unknown>): Promise<boolean> {
  try {
    await work
    return true
  } catch (error) {
    if (!isNoRun(error)) throw error
    return false
  }
}
