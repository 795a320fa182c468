import { cancelTask } from '@skerry/cloud-client'
import { attribute, childrenByLocalName, text, type Element } from '@skerry/xml'

import { idIn, idOf } from '../cloud-named.ts'
import { sideIn, type CloudSide } from '../cloud-side.ts'
import { follow } from '../cloud-task.ts'
import { command } from '../command.ts'
import { renderDetails } from '../details.ts'
import { Failure } from '../failure.ts'
import { showProgress } from '../progress.ts'

const taskHref = (word: string): string => {
  const id = idOf({ urn: 'task' }, word)
  if (id !== undefined) return `/api/task/${id}`
  throw new Failure('refused', `${word} is no id of a task`, {
    hint: 'skerry task list shows them; every command with --no-wait prints its own',
  })
}

/** What a task is, for people and for programs. */
export function taskOf(document: Element): Readonly<Record<string, string | number | undefined>> {
  const said = (name: string) => attribute(document, name)
  const inside = (name: string) => childrenByLocalName(document, name)[0]
  return {
    ...{ id: idIn(said('href')), status: said('status'), operation: said('operation') },
    of: attribute(inside('Owner'), 'name'),
    by: attribute(inside('User'), 'name'),
    progress: Number(text(inside('Progress')) ?? 0),
    began: said('startTime'),
    ended: said('endTime'),
    error: attribute(inside('Error'), 'message'),
    details: text(inside('Details')),
  }
}

const read = ({ cloud }: CloudSide, word: string): Promise<Element> => cloud.get(taskHref(word))

export const task = [
  command({
    name: 'task info',
    asks: 'cloud',
    usage: 'TASK',
    summary: 'what was asked of a cloud, how far it is, how it ended',
    examples: ['skerry task info 01980000-0000-7000-8000-000000000001'],
    next: 'skerry task wait TASK waits for its end',
    async run(world, { words: [word = ''], json }) {
      const found = taskOf(await read(sideIn(world), word))
      if (json) return world.print(JSON.stringify(found, null, 2))
      const rows = Object.entries(found).map(([key, value]) => [key, String(value ?? '')] as const)
      return world.print(renderDetails(rows))
    },
  }),
  command({
    name: 'task wait',
    asks: 'cloud',
    usage: 'TASK',
    summary: 'wait for the end of a task, with its progress; a task that fails ends this with 1',
    examples: ['skerry task wait 01980000-0000-7000-8000-000000000001'],
    next: 'skerry list shows what came of it',
    async run(world, { words: [word = ''], json }) {
      const side = sideIn(world)
      const document = await read(side, word)
      const { of = '', operation = 'a task' } = taskOf(document)
      const label = `${String(operation).split(' ')[0]} ${of}`
      await showProgress(world, label, (tell) => follow(side, document, { wait: true, tell }))
      const ended = taskOf(await read(side, word))
      world.print(json ? JSON.stringify(ended, null, 2) : `${ended['operation']}: done`)
    },
  }),
  command({
    name: 'task cancel',
    asks: 'cloud',
    usage: 'TASK',
    summary: 'ask a task to turn back; one that has ended, or is too far, goes on as it is',
    examples: ['skerry task cancel 01980000-0000-7000-8000-000000000001'],
    next: 'skerry task info TASK tells what came of it',
    async run(world, { words: [word = ''], json }) {
      const side = sideIn(world)
      await cancelTask(side.cloud, taskHref(word))
      const found = taskOf(await read(side, word))
      world.print(json ? JSON.stringify(found, null, 2) : `task ${word} is ${found['status']}`)
    },
  }),
]
