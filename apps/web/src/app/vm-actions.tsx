// Actions on VMs: confirmed where something would be lost, sent once, and reported.
import { useState } from 'react'
import { useNavigate, type NavigateFunction } from 'react-router'

import { pathOf } from '../api/client.ts'
import { CommandChoice } from '../components/command-line.tsx'
import { ConfirmDialog, FormDialog } from '../components/dialog.tsx'
import { CheckField, TextField } from '../components/field.tsx'
import type { IconName } from '../components/icon.tsx'
import type { MenuGroup, MenuItem } from '../components/menu.tsx'
import { openConsole } from '../data/consoles.ts'
import { notify, notifyError } from '../data/notifications.ts'
import { queryClient } from '../data/query-client.ts'
import { pageConfig } from '../data/session.ts'
import { source } from '../data/source.ts'
import { createStore, useStore } from '../data/store.ts'
import { isAvailable, type VmAction, type ActionName } from '../model/actions.ts'
import { commandOf, snapshotCommand } from '../model/commands.ts'
import type { ShownTask } from '../model/task.ts'
import { en } from '../text/en.ts'
import { paths } from './paths.ts'
import { CloneDialog } from './vms/clone-dialog.tsx'

export const actionIcons: Readonly<Record<ActionName, IconName>> = {
  start: 'play',
  shutdown: 'power',
  reboot: 'restart',
  suspend: 'suspend',
  pause: 'suspend',
  unpause: 'play',
  reset: 'restart',
  powerOff: 'stop',
  discardState: 'trash',
  console: 'console',
  createSnapshot: 'snapshot',
  revertSnapshot: 'revert',
  removeSnapshot: 'trash',
  changeHardware: 'cpu',
  clone: 'copy',
  delete: 'trash',
}

/** What an action is applied to: a VM, or a vApp with all its VMs. */
export interface ActionTarget {
  readonly id: string
  readonly name: string
}

interface PendingAction {
  readonly target: ActionTarget
  readonly action: VmAction
}
const pending = createStore<PendingAction | undefined>(undefined)

/** Sends the action and remembers its task. */
export const sendAction = (action: VmAction, body?: unknown): Promise<ShownTask | undefined> =>
  source().sendAction(action, body ?? action.body)

async function run({ target, action }: PendingAction, body?: unknown): Promise<void> {
  try {
    const task = await sendAction(action, body)
    // The task of a clone is of the new VM.
    const isOfTarget = task !== undefined && action.name !== 'clone'
    const doing = isOfTarget ? en.operation(task.operation, false) : `${en.action[action.name]}:`
    notify({ tone: 'progress', title: `${doing} ${target.name}` })
  } catch (error) {
    notifyError(`${en.action[action.name]} ${target.name}: not done`, error)
  }
  void queryClient.invalidateQueries({ queryKey: ['vm', target.id] })
  void queryClient.invalidateQueries({ queryKey: ['document'] })
  void queryClient.invalidateQueries({ queryKey: ['machine'] })
  void queryClient.invalidateQueries({ queryKey: ['tasks'] })
}

/** Their dialogs ask for more than a confirmation. */
const withForm: ReadonlySet<ActionName> = new Set(['createSnapshot', 'clone'])

function begin(target: ActionTarget, action: VmAction, navigate: NavigateFunction): void {
  if (!isAvailable(action)) return
  if (action.name === 'console') {
    const { openConsole: openOwn } = source()
    return openOwn ? openOwn(action) : openConsole(target.id)
  }
  if (action.name === 'changeHardware') return void navigate(`${paths.vm(target.id)}?tab=hardware`)
  const isAsked = en.warning[action.name] !== undefined || withForm.has(action.name)
  if (isAsked) return pending.set({ target, action })
  void run({ target, action })
}

/** A function that starts an action, and asks first where it must. */
export const useVmActions = (): ((target: ActionTarget, action: VmAction) => void) => {
  const navigate = useNavigate()
  return (target, action) => begin(target, action, navigate)
}

/** The actions of a menu: first what is available, then the rest with the reasons. */
export function actionMenu(
  target: ActionTarget,
  actions: readonly VmAction[],
  start: (target: ActionTarget, action: VmAction) => void,
): MenuGroup[] {
  const item = (action: VmAction): MenuItem => ({
    text: en.action[action.name],
    icon: actionIcons[action.name],
    isDangerous: action.name === 'delete' || action.name === 'powerOff',
    unavailable: action.unavailable,
    onSelect: () => start(target, action),
  })
  return [
    { items: actions.filter(isAvailable).map(item) },
    {
      title: 'Not available now',
      items: actions.filter((action) => !isAvailable(action)).map(item),
    },
  ]
}

/** The question before an action; part of the shell. */
export function ActionDialog() {
  const current = useStore(pending)
  if (!current) return null
  const close = (): void => pending.set(undefined)
  const confirm = (body?: unknown): void => {
    close()
    void run(current, body)
  }
  const { target, action } = current
  if (action.name === 'createSnapshot')
    return <SnapshotDialog {...current} onClose={close} onConfirm={confirm} />
  if (action.name === 'clone')
    return <CloneDialog {...current} onClose={close} onConfirm={confirm} />
  const title = `${en.action[action.name]}: ${target.name}`
  return (
    <ConfirmDialog
      title={title}
      action={en.action[action.name]}
      icon={actionIcons[action.name]}
      onConfirm={() => confirm()}
      onClose={close}
    >
      <p>{en.warning[action.name]}</p>
      <CommandChoice
        skerry={commandOf(action.name, source().nameForTerminal(target))}
        curl={source().curlLine(action.method, pathOf(action.href), action.body)}
      />
    </ConfirmDialog>
  )
}

interface SnapshotDialogProps extends PendingAction {
  readonly onClose: () => void
  readonly onConfirm: (body: unknown) => void
}

function SnapshotDialog({ target, action, onClose, onConfirm }: SnapshotDialogProps) {
  const [name, setName] = useState('before-change')
  const [memory, setMemory] = useState(true)
  const body = { name, memory }
  return (
    <FormDialog
      title={`${en.action.createSnapshot}: ${target.name}`}
      onClose={onClose}
      onSubmit={() => onConfirm(body)}
      action={en.action.createSnapshot}
      icon="snapshot"
      unavailable={name === '' ? 'a snapshot needs a name' : undefined}
    >
      <p>{en.snapshotNote[pageConfig.get().kind]}</p>
      <TextField label="Name" value={name} onChange={(event) => setName(event.target.value)} />
      <CheckField label="Include the memory of the guest" checked={memory} onChange={setMemory} />
      <CommandChoice
        skerry={snapshotCommand(source().nameForTerminal(target), name, memory)}
        curl={source().curlLine('POST', pathOf(action.href), body)}
      />
    </FormDialog>
  )
}
