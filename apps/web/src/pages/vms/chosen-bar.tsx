import { useState } from 'react'

import { actionIcons } from '../../app/vm-actions.tsx'
import { Button } from '../../components/button.tsx'
import { CommandLine } from '../../components/command-line.tsx'
import { ConfirmDialog } from '../../components/dialog.tsx'
import { pageConfig } from '../../data/session.ts'
import { source } from '../../data/source.ts'
import type { ActionName } from '../../model/actions.ts'
import { commandOf, shellQuoted } from '../../model/commands.ts'
import type { ListedVm } from '../../model/vm.ts'
import { en } from '../../text/en.ts'
import { formatCount } from '../../text/format.ts'

import style from './vm-list.module.css'

const NAMES_SHOWN = 6

/** An action, and those of the selected VMs that it can be done with. */
export interface BulkChoice {
  readonly name: ActionName
  readonly rows: readonly ListedVm[]
  /** Why there are none. */
  readonly whyNone: string
}

interface ChosenBarProps {
  readonly count: number
  readonly total: number
  readonly choices: readonly BulkChoice[]
  readonly onSelectAll: () => void
  /** Why not all can be selected. */
  readonly whyNotAll?: string | undefined
  readonly onClear: () => void
  readonly onConfirm: (choice: BulkChoice) => void
}

/** The VMs that were selected one by one, and what can be done with them. */
export function ChosenBar(props: ChosenBarProps) {
  const { count, total, choices, onClear } = props
  const [asked, setAsked] = useState<BulkChoice>()
  return (
    <div className={style['bulk']} role="toolbar" aria-label="Actions for the selected VMs">
      <span>
        <b>{formatCount(count)}</b> of {formatCount(total)} selected
      </span>
      {count < total && (
        <Button small tone="plain" unavailable={props.whyNotAll} onClick={props.onSelectAll}>
          Select all {formatCount(total)}
        </Button>
      )}
      {choices.map((choice) => {
        const { name, rows, whyNone } = choice
        return (
          <Button
            key={name}
            small
            icon={actionIcons[name]}
            unavailable={rows.length === 0 ? whyNone : undefined}
            onClick={() => setAsked(choice)}
          >
            {en.action[name]}
            {rows.length > 0 && rows.length < count ? ` ${rows.length}` : ''}
          </Button>
        )
      })}
      <Button small tone="plain" icon="close" onClick={onClear}>
        Clear selection
      </Button>
      {asked && (
        <BulkDialog
          choice={asked}
          skipped={count - asked.rows.length}
          onClose={() => setAsked(undefined)}
          onConfirm={() => {
            setAsked(undefined)
            onClear()
            props.onConfirm(asked)
          }}
        />
      )}
    </div>
  )
}

interface BulkDialogProps {
  readonly choice: BulkChoice
  /** Selected VMs in another state. */
  readonly skipped: number
  readonly onClose: () => void
  readonly onConfirm: () => void
}

function BulkDialog({ choice, skipped, onClose, onConfirm }: BulkDialogProps) {
  const { name, rows } = choice
  const shown = rows
    .slice(0, NAMES_SHOWN)
    .map((row) => row.name)
    .join(', ')
  const rest = rows.length - NAMES_SHOWN
  const words = rows.map((row) => shellQuoted(source().nameForTerminal(row)))
  const command = commandOf(name, 'VM')?.replace(/\bVM\b/, '"$vm"')
  const wait = pageConfig.get().kind === 'cloud' ? ' --no-wait' : ''
  return (
    <ConfirmDialog
      title={`${en.action[name]}: ${en.vms(rows.length)}`}
      action={`${en.action[name]} ${rows.length}`}
      icon={actionIcons[name]}
      isDangerous={name === 'delete' || name === 'powerOff'}
      onClose={onClose}
      onConfirm={onConfirm}
    >
      <p>
        {shown}
        {rest > 0 && ` and ${rest} more`}.{' '}
        {skipped > 0 && `${en.vms(skipped)} in another state are left as they are.`}
      </p>
      {(name === 'delete' || name === 'powerOff') && <p>{en.warning[name]}</p>}
      {command !== undefined && (
        <CommandLine text={`for vm in ${words.join(' ')}; do ${command}${wait}; done`} />
      )}
    </ConfirmDialog>
  )
}
