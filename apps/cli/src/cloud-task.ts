import { taskIn, waitTask, type EndedTask } from '@skerry/cloud-client'
import { attribute, type Element } from '@skerry/xml'

import { idIn } from './cloud-named.ts'
import type { CloudSide } from './cloud-side.ts'
import type { Doing, Told } from './verbs.ts'

/** A task that was begun, and its end where somebody waited for it. */
export interface Begun {
  readonly id: string
  readonly ended: EndedTask | undefined
}

/** Waits for the task in an answer, as far as that is wanted, and tells how far it is meanwhile. */
export async function follow(
  { cloud, now, wait }: CloudSide,
  answer: Element | undefined,
  doing: Doing,
): Promise<Begun | undefined> {
  const task = answer && taskIn(answer)
  if (!task) return undefined
  const id = idIn(attribute(task, 'href'))
  if (!doing.wait) return { id, ended: undefined }
  const ended = await waitTask(cloud, task, {
    ...{ now, pause: wait },
    // Work that cannot tell how far it is stays at 0, which a bar would show as standing still.
    progress: (percent) => doing.tell(percent || undefined),
  })
  return { id, ended }
}

/** What is said of what goes on by itself. */
export const underWay = (text: string, task: string): Told => ({
  text: `${text}: task ${task} is under way`,
  body: { task: { id: task, status: 'under way' } },
  next: `skerry task wait ${task}`,
})
