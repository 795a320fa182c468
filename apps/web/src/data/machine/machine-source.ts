import { ApiError, request } from '../../api/client.ts'
import type { MetricsDocument } from '../../api/documents.ts'
import { followEvents, type LiveEvent } from '../../api/event-stream.ts'
import { localPath, readLocalVm, readLocalVms, type LocalOperation } from '../../api/machine.ts'
import { parseFilter } from '../../model/filter.ts'
import {
  localCurl,
  machineVmOf,
  matchesFilter,
  sortedVms,
  taskOfOperation,
  type MachineVm,
} from '../../model/machine/machine-vm.ts'
import { markLive, markLost } from '../connection.ts'
import type { DataSource } from '../data-source.ts'
import { notifyError } from '../notifications.ts'
import { readAgain } from '../query-client.ts'
import { hasSessionEnded, needsToken } from '../session.ts'
import { noteOperation, readOpenOperations, startTask } from './own-operations.ts'

const TASKS_SHOWN = 50

export const readMachineVms = async (signal?: AbortSignal): Promise<readonly MachineVm[]> =>
  (await readLocalVms(signal)).map(machineVmOf)

export async function readMachineVm(id: string, signal?: AbortSignal): Promise<MachineVm> {
  const vm = await readLocalVm(id, signal)
  if (vm) return machineVmOf(vm)
  throw new ApiError(404, '404', `there is no VM ${id} on this machine; it may have been deleted`)
}

/** An event names its VM or its operation; what is visible of them is read again. A machine has few VMs. */
function onEvent({ event, data }: LiveEvent): void {
  if (event === 'operation') {
    const operation = data['operation'] as LocalOperation
    void readAgain('tasks')
    noteOperation(operation)
    if (operation.state === 'running') return
  }
  void readAgain('vm')
  void readAgain('machine')
}

/** The window is opened on the click, before the answer: browsers block it later. */
async function openConsole(href: string): Promise<void> {
  const opened = window.open('about:blank', '_blank')
  try {
    const { page } = await request<{ readonly page: string }>(href, { method: 'POST' })
    if (!opened) throw new Error('the browser blocked the window; allow windows of this page')
    opened.opener = null
    opened.location.href = page
  } catch (error) {
    opened?.close()
    notifyError('The console did not open', error)
  }
}

/** vmd on this machine. */
export const machineSource: DataSource = {
  readVm: readMachineVm,
  async findVms(text, pageSize, signal) {
    const { terms } = parseFilter(text)
    const found = (await readMachineVms(signal)).filter((vm) => matchesFilter(vm, terms))
    return { total: found.length, records: sortedVms(found, 'name').slice(0, pageSize) }
  },
  async readTasks(signal) {
    const operations = await request<readonly LocalOperation[]>('/api/operations', { signal })
    const tasks = operations.toReversed().slice(0, TASKS_SHOWN).map(taskOfOperation)
    return { total: operations.length, tasks }
  },
  sendAction: ({ href, method }, body) =>
    startTask(href, { method, ...(body !== undefined && { body }) }),
  openConsole: ({ href }) => void openConsole(href),
  startLiveUpdates: () =>
    followEvents('/api/events', {
      onEvent,
      onState: (state) => {
        if (state !== 'live') return markLost()
        markLive()
        // Events that came before this stream are not repeated.
        void readOpenOperations()
      },
      onReset: () => void readAgain(),
      onUnauthenticated: () => hasSessionEnded.set(true),
    }),
  readMetrics: (id, signal) => request<MetricsDocument>(localPath('vms', id, 'usage'), { signal }),
  // Names of a machine's VMs need not be unique, ids are.
  nameForTerminal: ({ id }) => id,
  curlLine: (method, path, body) =>
    localCurl({ origin: location.origin, needsToken: needsToken() }, method, path, body),
}
