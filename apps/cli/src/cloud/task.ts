import { taskIn, waitTask, type EndedTask, type SeenWait } from '@skerry/cloud-client'
import { attribute, type Element } from '@skerry/xml'

import { Failure } from '../terminal/failure.ts'
import type { CloudSession } from '../vms/cloud-session.ts'
import type { ChangeOptions, CommandResult } from '../vms/vm-backend.ts'
import { idIn } from './named.ts'

/** A started task, and its end if the command waited for it. */
export interface StartedTask {
  readonly id: string
  readonly ended: EndedTask | undefined
}

/** Waits for the task in a response, if requested, and reports its progress. */
export async function follow(
  side: CloudSession,
  answer: Element | undefined,
  doing: ChangeOptions,
): Promise<StartedTask | undefined> {
  const task = answer && taskIn(answer)
  if (!task) return undefined
  const id = idIn(attribute(task, 'href'))
  return { id, ended: doing.wait ? await ended(side, task, id, doing) : undefined }
}

/** Ctrl-C ends the wait; the task is not affected. */
async function ended(
  { cloud, now, wait, onInterrupt }: CloudSession,
  task: Element,
  id: string,
  { report }: ChangeOptions,
): Promise<EndedTask> {
  const stop = new AbortController()
  const stopped = Promise.withResolvers<void>()
  const leave = onInterrupt(() => {
    stop.abort(goesOn(id))
    stopped.resolve()
  })
  try {
    return await waitTask(cloud, task, {
      now,
      signal: stop.signal,
      pause: (ms) => Promise.race([wait(ms), stopped.promise]),
      // A task without progress stays at 0, which would look like a stuck bar.
      progress: (percent, waits) =>
        report(percent || undefined, undefined, waits && waitText(waits)),
    })
  } finally {
    leave()
  }
}

/** One line: what it waits for, and the last failure, if any. */
const waitText = ({ message, attempts, lastFailure }: SeenWait): string =>
  attempts === 0 ? message : `${message} (${attempts} failed, last: ${lastFailure})`

const goesOn = (id: string): Failure =>
  new Failure('timedOut', `stopped waiting; task ${id} continues`, {
    hint: `skerry task wait ${id}; skerry task cancel ${id} cancels it`,
  })

/** The result of a command that did not wait. */
export function underWay(text: string, id: string): CommandResult {
  const task = { id, status: 'under way' }
  const next = `skerry task wait ${id}`
  return { text: `${text}: task ${id} is running`, body: { task }, task, next }
}
