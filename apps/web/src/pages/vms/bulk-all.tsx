// One action on all VMs that match the filter: the server does it, as one task.
import { request } from '../../api/client.ts'
import type { TaskDocument } from '../../api/documents.ts'
import { actionIcons } from '../../app/vm-actions.tsx'
import { Button } from '../../components/button.tsx'
import { CommandLine } from '../../components/command-line.tsx'
import { ConfirmDialog } from '../../components/dialog.tsx'
import { notify, notifyError } from '../../data/notifications.ts'
import { rememberTask } from '../../data/own-tasks.ts'
import { isTaskListOpen } from '../../data/page-state.ts'
import { queryClient } from '../../data/query-client.ts'
import type { ActionName } from '../../model/actions.ts'
import { bulkCommand } from '../../model/commands.ts'
import { taskOfDocument } from '../../model/task.ts'
import { en } from '../../text/en.ts'
import { formatCount } from '../../text/format.ts'

/** Of the server: docs/reference/limits.md. */
const VMS_MAX = 10_000

/** Action → its name in the address. */
const serverActions = [
  ['start', 'powerOn'],
  ['shutdown', 'shutdown'],
  ['reboot', 'reboot'],
  ['suspend', 'suspend'],
  ['delete', 'delete'],
] as const satisfies readonly (readonly [ActionName, string])[]

async function actOnQuery(name: ActionName, filter: string, total: number): Promise<void> {
  const action = serverActions.find(([each]) => each === name)?.[1] ?? ''
  const parameters = new URLSearchParams({ type: 'vm', expect: String(total) })
  if (filter !== '') parameters.set('filter', filter)
  try {
    const document = await request<TaskDocument>(`/api/query/action/${action}?${parameters}`, {
      method: 'POST',
    })
    rememberTask(taskOfDocument(document))
    isTaskListOpen.set(true)
    notify({ tone: 'progress', title: `${en.action[name]}: ${en.vms(total)}` })
  } catch (error) {
    notifyError(`${en.action[name]}: not done`, error)
  }
  void queryClient.invalidateQueries()
}

interface AllActionsProps {
  readonly total: number
  readonly onAction: (name: ActionName) => void
}

export const AllActions = ({ total, onAction }: AllActionsProps) =>
  serverActions.map(([name]) => (
    <Button
      key={name}
      small
      icon={actionIcons[name]}
      unavailable={
        total > VMS_MAX
          ? `at most ${formatCount(VMS_MAX)} VMs at a time: narrow the filter`
          : undefined
      }
      onClick={() => onAction(name)}
    >
      {en.action[name]}
    </Button>
  ))

interface AllDialogProps {
  readonly name: ActionName
  readonly filter: string
  readonly total: number
  readonly onClose: () => void
  /** The action was sent. */
  readonly onDone: () => void
}

export function AllDialog({ name, filter, total, onClose, onDone }: AllDialogProps) {
  const command = bulkCommand(name, filter, total)
  return (
    <ConfirmDialog
      title={`${en.action[name]}: ${en.vms(total)}`}
      action={`${en.action[name]} ${formatCount(total)}`}
      icon={actionIcons[name]}
      isDangerous={name === 'delete'}
      onClose={onClose}
      onConfirm={() => {
        onDone()
        void actOnQuery(name, filter, total)
      }}
    >
      <p>
        {filter === '' ? 'All VMs of your organisation.' : 'All VMs that match the filter.'} If
        another number of VMs matches by then, nothing is changed. A VM for which it is not possible
        is listed with the reason.
      </p>
      {name === 'delete' && <p>{en.warning.delete}</p>}
      {command !== undefined && <CommandLine text={command} />}
    </ConfirmDialog>
  )
}
