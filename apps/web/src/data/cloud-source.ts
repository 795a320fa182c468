import { request } from '../api/client.ts'
import type { MetricsDocument, TaskDocument, VmDocument } from '../api/documents.ts'
import { runQuery } from '../api/query.ts'
import { curlCommand } from '../model/commands.ts'
import { nameFilter } from '../model/filter.ts'
import { taskOfDocument, taskOfRecord } from '../model/task.ts'
import { vmDetailsOf, vmRowOf } from '../model/vm.ts'
import type { DataSource } from './data-source.ts'
import { rememberTask } from './own-tasks.ts'
import { startLiveUpdates } from './updates/live-updates.ts'

const TASKS_SHOWN = 50

/** The cloud API: documents, links and the query service. */
export const cloudSource: DataSource = {
  async readVm(id, signal) {
    return vmDetailsOf(await request<VmDocument>(`/api/vApp/${id}?unavailable=true`, { signal }))
  },
  async findVms(text, pageSize, signal) {
    const found = await runQuery('vm', {
      filter: nameFilter(text),
      sort: 'name',
      pageSize,
      signal,
    })
    return { total: found.total, records: found.records.map(vmRowOf) }
  },
  async readTasks(signal) {
    const page = await runQuery('task', {
      // One action on many VMs is one line.
      filter: 'isInBulk==false',
      sort: '-startDate',
      pageSize: TASKS_SHOWN,
      signal,
    })
    return { total: page.total, tasks: page.records.map(taskOfRecord) }
  },
  async sendAction({ href, method }, body) {
    const document = await request<TaskDocument | undefined>(href, {
      method,
      ...(body !== undefined && { body }),
    })
    if (!document?.owner) return undefined
    const task = taskOfDocument(document)
    rememberTask(task)
    return task
  },
  readMetrics: (id, signal) => request<MetricsDocument>(`/api/vApp/${id}/metrics`, { signal }),
  startLiveUpdates,
  nameForTerminal: ({ name }) => name,
  curlLine: curlCommand,
}
