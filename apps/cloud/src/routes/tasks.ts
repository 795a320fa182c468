import { at } from '../addresses.ts'
import { task, tasksList } from '../documents/task.ts'
import { Hrefs } from '../http/links.ts'
import { route } from '../route.ts'
import { cancelTask } from '../store/end-task.ts'
import { newestTasks } from '../store/find-task.ts'
import { requireSound } from '../submit.ts'

export const tasks = [
  route({
    name: 'listTasks',
    method: 'GET',
    path: at.tasks,
    permission: 'vm:read',
    answers: { 200: 'tasksList' },
    doc: 'What was last asked in an organisation: the newest 128 tasks, newest first. All there are: GET /api/query?type=task.',
    async handle(world, asker) {
      const { org } = asker.params
      const rows = await world.as(asker.who, (tx) => newestTasks(tx, org.id))
      return { status: 200, body: tasksList(org, rows, asker, new Hrefs(world.base)) }
    },
  }),
  route({
    name: 'readTask',
    method: 'GET',
    path: at.task,
    permission: 'vm:read',
    answers: { 200: 'task' },
    doc: 'What was asked, how far it is, how it ended.',
    async handle({ base }, asker) {
      return { status: 200, body: task(asker.params.task, asker, new Hrefs(base)) }
    },
  }),
  route({
    name: 'cancelTask',
    method: 'POST',
    path: at.cancelTask,
    permission: 'vm:power',
    answers: { 204: 'nothing' },
    doc: 'Asks a task to stop. One that waits ends at once; one that runs turns back, unless it is too late.',
    async handle(world, { who, params }) {
      const rung = await world.as(who, async (tx) => {
        await requireSound(tx)
        return cancelTask(tx, params.task.id)
      })
      for (const vm of rung) world.ring(vm)
      return { status: 204 }
    },
  }),
]
