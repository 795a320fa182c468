// The server's way to its runs. Nothing of a tenant is in an id, and no memo and no search attribute is written.
import { Fault } from '@skerry/fault'
import { isAlreadyStarted, isNoRun, type TemporalClient } from '@skerry/temporal'

import { INTERACTION_EVENT } from '../definition/task.ts'
import { limits } from '../durable/scope.ts'
import { type RunInput, workflowIdOf } from '../durable/states.ts'
import type { Json, RunEvent } from '../durable/verbs.ts'

const DAY_MS = 24 * 3_600_000

/** Starts a run; one that is there already, ended or not, is not started again. */
export async function startRun(
  temporal: TemporalClient,
  run: RunInput,
  taskQueue: string,
): Promise<void> {
  try {
    await temporal.within((client) =>
      client.workflow.start('runDefinition', {
        ...{ taskQueue, workflowId: workflowIdOf(run.execution), args: [run] },
        workflowIdReusePolicy: 'REJECT_DUPLICATE',
        workflowTaskTimeout: '5s',
        // The run itself tells that its time is over; this is for one that cannot.
        workflowExecutionTimeout: limits.runMs + DAY_MS,
      }),
    )
  } catch (error) {
    if (!isAlreadyStarted(error)) throw error
  }
}

/** Asks a run to end, with all that is under way in it. One that has ended stays as it is. */
export async function cancelRun(temporal: TemporalClient, execution: string): Promise<void> {
  await unlessGone(
    temporal.within((client) => client.workflow.getHandle(workflowIdOf(execution)).cancel()),
  )
}

/** Sends an event to a run. Answers whether there is one to hear it. */
export async function signalEvent(
  temporal: TemporalClient,
  execution: string,
  event: RunEvent,
): Promise<boolean> {
  if (JSON.stringify(event).length > limits.valueBytes) {
    throw new Fault('invalid', `an event or an answer may have ${limits.valueBytes} bytes`)
  }
  return unlessGone(
    temporal.within((client) =>
      client.workflow.getHandle(workflowIdOf(execution)).signal('event', event),
    ),
  )
}

/** A person's answer is the event that the run waits for. */
export async function answerInteraction(
  temporal: TemporalClient,
  execution: string,
  { interaction, by, answer }: { interaction: string; by: string; answer: Json },
): Promise<boolean> {
  const event = { id: interaction, type: INTERACTION_EVENT, source: 'skerry', subject: by }
  return signalEvent(temporal, execution, { ...event, data: answer })
}

/**
 * Whether Temporal still runs it. A run writes down how it ended before it ends there, so that one which does not go on and has not
 * ended in our rows was lost: with the engine's database, or by a history that the code did not fit.
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
