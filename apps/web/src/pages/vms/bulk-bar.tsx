import { useState } from 'react'

import { sendAction } from '../../app/vm-actions.tsx'
import { Button } from '../../components/button.tsx'
import { notify } from '../../data/notifications.ts'
import { isTaskListOpen } from '../../data/page-state.ts'
import { queryClient } from '../../data/query-client.ts'
import { readVm } from '../../data/use-documents.ts'
import { findAction, type ActionName } from '../../model/actions.ts'
import type { DisplayedPower } from '../../model/power.ts'
import type { ListedVm } from '../../model/vm.ts'
import { en } from '../../text/en.ts'
import { formatCount } from '../../text/format.ts'
import { AllActions, AllDialog } from './bulk-all.tsx'
import { ChosenBar } from './chosen-bar.tsx'
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
  return props.selection.isAll ? <AllBar {...props} /> : <ChosenVmsBar {...props} />
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

function ChosenVmsBar({ selection, total, isAdministration }: BulkBarProps) {
  const rows = [...selection.rows.values()]
  const choices = bulkActions.map(([name, states]) => ({
    name,
    rows: rows.filter(({ power }) => states.includes(power)),
    whyNone: `none of the VMs is ${states.join(' or ')}`,
  }))
  return (
    <ChosenBar
      count={rows.length}
      total={total}
      choices={choices}
      whyNotAll={
        isAdministration && total > VMS_MAX ? `at most ${VMS_MAX} VMs at a time` : undefined
      }
      onSelectAll={() => void selection.selectAll()}
      onClear={selection.clear}
      onConfirm={(choice) => void actOnAll(choice.rows, choice.name)}
    />
  )
}
