import { useState } from 'react'

import { actionIcons, sendAction } from '../../app/vm-actions.tsx'
import { Button } from '../../components/button.tsx'
import { CommandLine } from '../../components/command-line.tsx'
import { ConfirmDialog } from '../../components/dialog.tsx'
import { notify } from '../../data/notifications.ts'
import { isTaskListOpen } from '../../data/page-state.ts'
import { queryClient } from '../../data/query-client.ts'
import { readVm } from '../../data/use-documents.ts'
import { findAction, type ActionName } from '../../model/actions.ts'
import { commandOf } from '../../model/commands.ts'
import type { DisplayedPower } from '../../model/power.ts'
import type { ListedVm } from '../../model/vm.ts'
import { en } from '../../text/en.ts'
import { formatCount } from '../../text/format.ts'
import { AllActions, AllDialog } from './bulk-all.tsx'
import { runForEach } from './run-for-each.ts'
import type { Selection } from './use-selection.ts'

import style from './vm-list.module.css'

/** The states in which an action makes sense; the links of each VM's document decide. */
const bulkActions: readonly (readonly [ActionName, readonly DisplayedPower[]])[] = [
  ['start', ['off', 'suspended']],
  ['shutdown', ['on']],
  ['reboot', ['on']],
  ['suspend', ['on']],
  ['createSnapshot', ['on', 'off']],
  ['delete', ['off']],
]
const AT_ONCE = 6
const VMS_MAX = 500
const NAMES_SHOWN = 6

/** Reads the VM and does what its links allow. */
async function actOn(row: ListedVm, name: ActionName): Promise<void> {
  const action = findAction((await readVm(row.id)).actions, name)
  if (!action) throw new Error('the VM does not offer this')
  if (action.unavailable !== undefined) throw new Error(action.unavailable)
  await sendAction(action, name === 'createSnapshot' ? { name: 'bulk' } : undefined)
}

async function actOnAll(rows: readonly ListedVm[], name: ActionName): Promise<void> {
  isTaskListOpen.set(true)
  const failures = await runForEach(rows, AT_ONCE, (row) => actOn(row, name))
  void queryClient.invalidateQueries({ queryKey: ['tasks'] })
  const done = `${en.action[name]}: ${en.vms(rows.length - failures.length)}`
  if (failures.length === 0) return notify({ tone: 'progress', title: done })
  notify({
    tone: 'error',
    title: `${done}, refused for ${failures.length}`,
    description: failures
      .slice(0, NAMES_SHOWN)
      .map(({ item, error }) => `${item.name}: ${error.message}`)
      .join('. '),
  })
}

interface BulkBarProps {
  readonly selection: Selection
  /** In the language of the query service. */
  readonly filter: string
  readonly total: number
  /** VMs of many organisations. */
  readonly isAdministration: boolean
}

/** Replaces the filter while VMs are selected. */
export function BulkBar(props: BulkBarProps) {
  return props.selection.isAll ? <AllBar {...props} /> : <ChosenBar {...props} />
}

function AllBar({ selection, filter, total }: BulkBarProps) {
  const [asked, setAsked] = useState<ActionName>()
  return (
    <div className={style['bulk']} role="toolbar" aria-label="Actions for all VMs that match">
      <span>
        All <b>{formatCount(total)}</b> selected
      </span>
      <AllActions total={total} onAction={setAsked} />
      <Button small tone="plain" icon="close" onClick={selection.clear}>
        Clear selection
      </Button>
      {asked && (
        <AllDialog
          name={asked}
          filter={filter}
          total={total}
          onClose={() => setAsked(undefined)}
          onDone={() => {
            setAsked(undefined)
            selection.clear()
          }}
        />
      )}
    </div>
  )
}

function ChosenBar({ selection, total, isAdministration }: BulkBarProps) {
  const [asked, setAsked] = useState<ActionName>()
  const rows = [...selection.rows.values()]
  const fitting = (name: ActionName): ListedVm[] => {
    const [, states = []] = bulkActions.find(([each]) => each === name) ?? []
    return rows.filter(({ power }) => states.includes(power))
  }
  return (
    <div className={style['bulk']} role="toolbar" aria-label="Actions for the selected VMs">
      <span>
        <b>{formatCount(rows.length)}</b> of {formatCount(total)} selected
      </span>
      {rows.length < total && (
        <Button
          small
          tone="plain"
          unavailable={
            isAdministration && total > VMS_MAX ? `at most ${VMS_MAX} VMs at a time` : undefined
          }
          onClick={() => void selection.selectAll()}
        >
          Select all {formatCount(total)}
        </Button>
      )}
      {bulkActions.map(([name, states]) => {
        const count = fitting(name).length
        return (
          <Button
            key={name}
            small
            icon={actionIcons[name]}
            unavailable={count === 0 ? `none of the VMs is ${states.join(' or ')}` : undefined}
            onClick={() => setAsked(name)}
          >
            {en.action[name]}
            {count > 0 && count < rows.length ? ` ${count}` : ''}
          </Button>
        )
      })}
      <Button small tone="plain" icon="close" onClick={selection.clear}>
        Clear selection
      </Button>
      {asked && (
        <BulkDialog
          name={asked}
          rows={fitting(asked)}
          skipped={rows.length - fitting(asked).length}
          onClose={() => setAsked(undefined)}
          onConfirm={() => {
            setAsked(undefined)
            selection.clear()
            void actOnAll(fitting(asked), asked)
          }}
        />
      )}
    </div>
  )
}

interface BulkDialogProps {
  readonly name: ActionName
  readonly rows: readonly ListedVm[]
  /** Selected VMs in another state. */
  readonly skipped: number
  readonly onClose: () => void
  readonly onConfirm: () => void
}

function BulkDialog({ name, rows, skipped, onClose, onConfirm }: BulkDialogProps) {
  const names = rows.map((row) => row.name)
  const shown = names.slice(0, NAMES_SHOWN).join(', ')
  const rest = names.length - NAMES_SHOWN
  const command = commandOf(name, 'VM')?.replace(/\bVM\b/, '"$vm"')
  return (
    <ConfirmDialog
      title={`${en.action[name]}: ${en.vms(rows.length)}`}
      action={`${en.action[name]} ${rows.length}`}
      icon={actionIcons[name]}
      isDangerous={name === 'delete'}
      onClose={onClose}
      onConfirm={onConfirm}
    >
      <p>
        {shown}
        {rest > 0 && ` and ${rest} more`}.{' '}
        {skipped > 0 && `${en.vms(skipped)} in another state are left as they are.`}
      </p>
      {name === 'delete' && <p>{en.warning.delete}</p>}
      {command !== undefined && (
        <CommandLine text={`for vm in ${names.join(' ')}; do ${command} --no-wait; done`} />
      )}
    </ConfirmDialog>
  )
}
