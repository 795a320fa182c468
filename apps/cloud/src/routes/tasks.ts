import { at } from '../dialect/addresses.ts'
import { task, tasksList } from '../documents/task.ts'
import { Hrefs } from '../http/links.ts'
import { readRoute, route } from '../http/route.ts'
import { cancelTask } from '../tasks/end-task.ts'
import { newestTasks } from '../tasks/find-task.ts'
import { requireSound } from '../tasks/submit.ts'

export const tasks = [
  readRoute({
    name: 'listTasks',
    path: at.tasks,
    permission: 'vm:read',
    answers: { 200: 'tasksList' },
    doc: 'The newest 128 tasks of an organisation, newest first. For all tasks: GET /api/query?type=task.',
    read: (tx, { org }) => newestTasks(tx, org.id),
    show: ({ base }, caller, rows) => ({
      status: 200,
      body: tasksList(caller.params.org, rows, caller, new Hrefs(base)),
    }),
  }),
  route({
    name: 'readTask',
    method: 'GET',
    path: at.task,
    permission: 'vm:read',
    answers: { 200: 'task' },
    doc: 'A task: its operation, progress and result.',
    async handle({ base }, caller) {
      return { status: 200, body: task(caller.params.task, caller, new Hrefs(base)) }
    },
  }),
  route({
    name: 'cancelTask',
    method: 'POST',
    path: at.cancelTask,
    permission: 'vm:power',
    answers: { 204: 'nothing' },
    doc: 'Cancels a task. A queued task ends at once; a running task is rolled back, unless it has passed the point of no return.',
    async handle(context, { principal, params }) {
      const toWake = await context.as(principal, async (tx) => {
        await requireSound(tx)
        return cancelTask(tx, params.task.id)
      })
      for (const vm of toWake) context.wake(vm)
      return { status: 204 }
    },
  }),
]
