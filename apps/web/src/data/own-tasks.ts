// Tasks that this user started in this page: their failures are reported.
import { ApiError, request } from '../api/client.ts'
import type { TaskDocument } from '../api/documents.ts'
import { isOpen, taskOfDocument, type ShownTask } from '../model/task.ts'
import { en } from '../text/en.ts'
import { notify } from './notifications.ts'

const started = new Map<string, ShownTask>()

export const rememberTask = (task: ShownTask): void => void started.set(task.id, task)

/** `message`: why, where the event says so. Default: it is read from the task. */
export async function reportFailure(taskId: string, message?: string): Promise<void> {
  const task = started.get(taskId)
  if (!task) return
  started.delete(taskId)
  const description = message ?? (await readReason(task.href))
  const what = en.operation(task.operation, false)
  notify({ tone: 'error', title: `${what} ${task.object} failed`, description })
}

/** undefined: the server gives no reason, or no answer; that the task failed is known all the same. */
const readReason = async (href: string): Promise<string | undefined> =>
  (await request<TaskDocument>(href).catch(() => undefined))?.error?.message

/** Reads each of them, where no event says that it has ended, and reports failures. Returns whether one has ended. */
export async function checkOwnTasks(): Promise<boolean> {
  const ended = await Promise.all([...started.values()].map(hasEnded))
  return ended.includes(true)
}

async function hasEnded({ id, href }: ShownTask): Promise<boolean> {
  const document = await request<TaskDocument>(href).catch((error: unknown) => {
    // A task that is gone says nothing any more; a cloud that does not answer says nothing yet.
    if (error instanceof ApiError && (error.status === 403 || error.status === 404))
      started.delete(id)
  })
  if (!document) return false
  const task = taskOfDocument(document)
  if (isOpen(task)) return false
  if (task.state === 'error') void reportFailure(id, document.error?.message)
  else started.delete(id)
  return true
}
