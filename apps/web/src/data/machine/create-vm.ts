import { ApiError } from '../../api/client.ts'
import { localPath } from '../../api/machine.ts'
import type { NewLocalVm } from '../../model/machine/machine-forms.ts'
import { notify, notifyError } from '../notifications.ts'
import { queryClient } from '../query-client.ts'
import { endOf, startTask } from './own-operations.ts'

/** Creates a VM and, if wanted, turns it on, also when the user leaves the form meanwhile. Returns whether it exists. What fails is reported. */
export async function createLocalVm(wanted: NewLocalVm, isStarted: boolean): Promise<boolean> {
  if (!(await isCreated(wanted))) return false
  if (isStarted) await turnOn(wanted.id)
  await queryClient.invalidateQueries({ queryKey: ['machine'] })
  return true
}

async function isCreated(wanted: NewLocalVm): Promise<boolean> {
  try {
    const task = await startTask('/api/vms', { method: 'POST', body: wanted })
    notify({ tone: 'progress', title: `Creating ${wanted.id}` })
    return task === undefined || (await endOf(task)) === 'succeeded'
  } catch (error) {
    const isUnknown = error instanceof ApiError && error.status === 0
    const title = isUnknown
      ? `It is not known whether ${wanted.id} was created`
      : `${wanted.id} was not created`
    notifyError(title, error)
    return false
  }
}

/** The task of the start is remembered: a failure after this is reported, too. */
async function turnOn(id: string): Promise<void> {
  try {
    await startTask(localPath('vms', 'power', id), { method: 'PATCH', body: 'on' })
  } catch (error) {
    notifyError(`${id} was created, but not started`, error)
  }
}
