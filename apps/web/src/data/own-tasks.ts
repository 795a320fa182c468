// Tasks that this user started in this page: their failures are reported.
import { request } from '../api/client.ts'
import type { TaskDocument } from '../api/documents.ts'
import type { ShownTask } from '../model/task.ts'
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
