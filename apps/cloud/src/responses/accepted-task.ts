import type { Caller } from '../auth/caller.ts'
import type { RequestContext } from '../context.ts'
import type { TaskRow } from '../database/tables.ts'
import { task as taskDocument } from '../documents/task.ts'
import { Hrefs } from '../http/links.ts'

/** 202 with the task of the request. */
export const accepted = ({ base }: RequestContext, caller: Caller, task: TaskRow) => {
  const hrefs = new Hrefs(base)
  const headers = { location: hrefs.task(task.id) }
  return { status: 202, headers, body: taskDocument(task, caller, hrefs) }
}
