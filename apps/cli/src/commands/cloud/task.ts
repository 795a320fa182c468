import { cancelTask, waitIn } from '@skerry/cloud-client'
import { attribute, childrenByLocalName, text, type Element } from '@skerry/xml'

import { idIn, idOf } from '../../cloud/named.ts'
import { sessionIn } from '../../cloud/session-in.ts'
import { follow } from '../../cloud/task.ts'
import { command } from '../../command.ts'
import { renderDetails } from '../../terminal/details.ts'
import { Failure } from '../../terminal/failure.ts'
import { showProgress } from '../../terminal/progress.ts'
import type { CloudSession } from '../../vms/cloud-session.ts'

const taskHref = (word: string): string => {
  const id = idOf({ urn: 'task' }, word)
  if (id !== undefined) return `/api/task/${id}`
  throw new Failure('refused', `${word} is not a task id`, {
    hint: 'skerry task list lists them; a command with --no-wait prints its own',
  })
}

/** The properties of a task, for text and JSON output. */
export function taskOf(document: Element): Readonly<Record<string, string | number | undefined>> {
  const said = (name: string) => attribute(document, name)
  const inside = (name: string) => childrenByLocalName(document, name)[0]
  return {
    id: idIn(said('href')),
    status: said('status'),
    operation: said('operation'),
    of: attribute(inside('Owner'), 'name'),
    by: attribute(inside('User'), 'name'),
    progress: Number(text(inside('Progress')) ?? 0),
    began: said('startTime'),
    ended: said('endTime'),
    error: attribute(inside('Error'), 'message'),
    details: text(inside('Details')),
    ...waitOf(document),
  }
}

/** Properties of a waiting task; empty for one that does not wait. */
function waitOf(document: Element): Readonly<Record<string, string | number | undefined>> {
  const waits = waitIn(document)
  if (!waits) return {}
  const { message, reason, since, attempts, lastFailure, lastFailureAt, givesUpAt, next } = waits
  const failed = lastFailure !== undefined && { attempts, lastFailure, lastFailureAt }
  return { waitsFor: message, waitReason: reason, waitsSince: since, ...failed, givesUpAt, next }
}

const read = ({ cloud }: CloudSession, word: string): Promise<Element> => cloud.get(taskHref(word))

export const task = [
  command({
    name: 'task info',
    asks: 'cloud',
    usage: 'TASK',
    summary: 'show a task of a cloud: operation, progress, what it waits for, result',
    examples: ['skerry task info 01980000-0000-7000-8000-000000000001'],
    next: 'skerry task wait TASK waits until it ends',
    async run(context, { words: [word = ''], json }) {
      const found = taskOf(await read(sessionIn(context), word))
      if (json) return context.print(JSON.stringify(found, null, 2))
      const rows = Object.entries(found).map(([key, value]) => [key, String(value ?? '')] as const)
      return context.print(renderDetails(rows))
    },
  }),
  command({
    name: 'task wait',
    asks: 'cloud',
    usage: 'TASK',
    summary: 'wait until a task ends and show its progress; exits with 1 if the task fails',
    examples: ['skerry task wait 01980000-0000-7000-8000-000000000001'],
    next: 'skerry list shows the result',
    async run(context, { words: [word = ''], json }) {
      const side = sessionIn(context)
      const document = await read(side, word)
      const { of = '', operation = 'a task' } = taskOf(document)
      const label = `${String(operation).split(' ')[0]} ${of}`
      await showProgress(context, label, (report) => follow(side, document, { wait: true, report }))
      const ended = taskOf(await read(side, word))
      context.print(json ? JSON.stringify(ended, null, 2) : `${ended['operation']}: done`)
    },
  }),
  command({
    name: 'task cancel',
    asks: 'cloud',
    usage: 'TASK',
    summary:
      'cancel a task and roll it back; has no effect once it ended or passed the point of no return',
    examples: ['skerry task cancel 01980000-0000-7000-8000-000000000001'],
    next: 'skerry task info TASK shows the result',
    async run(context, { words: [word = ''], json }) {
      const side = sessionIn(context)
      await cancelTask(side.cloud, taskHref(word))
      const found = taskOf(await read(side, word))
      context.print(json ? JSON.stringify(found, null, 2) : `task ${word} is ${found['status']}`)
    },
  }),
]
