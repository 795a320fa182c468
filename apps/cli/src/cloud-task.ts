import { taskIn, waitTask, type EndedTask } from '@skerry/cloud-client'
import { attribute, type Element } from '@skerry/xml'

import { idIn } from './cloud-named.ts'
import type { CloudSide } from './cloud-side.ts'
import { Failure } from './failure.ts'
import type { Doing, Told } from './verbs.ts'

/** A task that was begun, and its end where somebody waited for it. */
export interface Begun {
  readonly id: string
  readonly ended: EndedTask | undefined
}

/** Waits for the task in an answer, as far as that is wanted, and tells how far it is meanwhile. */
export async function follow(
  side: CloudSide,
  answer: Element | undefined,
  doing: Doing,
): Promise<Begun | undefined> {
  const task = answer && taskIn(answer)
  if (!task) return undefined
  const id = idIn(attribute(task, 'href'))
  return { id, ended: doing.wait ? await ended(side, task, id, doing) : undefined }
}

/** Whoever presses Ctrl-C no longer waits; the task knows nothing of it. */
async function ended(
  { cloud, now, wait, onInterrupt }: CloudSide,
  task: Element,
  id: string,
  { tell }: Doing,
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
      // Work that cannot tell how far it is stays at 0, which a bar would show as standing still.
      progress: (percent) => tell(percent || undefined),
    })
  } finally {
    leave()
  }
}

const goesOn = (id: string): Failure =>
  new Failure('timedOut', `it is not waited for any longer, and task ${id} goes on`, {
    hint: `skerry task wait ${id}; skerry task cancel ${id} turns it back`,
  })

/** What is said of what goes on by itself. */
export function underWay(text: string, id: string): Told {
  const task = { id, status: 'under way' }
  const next = `skerry task wait ${id}`
  return { text: `${text}: task ${id} is under way`, body: { task }, task, next }
}
