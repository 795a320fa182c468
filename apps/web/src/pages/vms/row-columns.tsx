// Columns that lists of VMs share: those of a cloud and of one machine.
import { Link } from 'react-router'

import { paths } from '../../app/paths.ts'
import { Button } from '../../components/button.tsx'
import type { GridColumn } from '../../components/grid/grid-column.ts'
import { PowerLabel } from '../../components/power-label.tsx'
import { ProgressBar } from '../../components/progress-bar.tsx'
import type { ShownTask } from '../../model/task.ts'
import type { ListedVm } from '../../model/vm.ts'
import { en } from '../../text/en.ts'
import { formatMiB } from '../../text/format.ts'

import page from '../../styles/page.module.css'
import style from './vm-list.module.css'

export interface SelectableRows {
  readonly isSelected: (row: ListedVm) => boolean
  readonly toggle: (row: ListedVm) => void
}

export const selectColumn = ({ isSelected, toggle }: SelectableRows): GridColumn<ListedVm> => ({
  key: 'select',
  title: <span className="visually-hidden">Selected</span>,
  width: '2.5rem',
  cell: (row) => (
    <label className={style['check']}>
      <input
        type="checkbox"
        tabIndex={-1}
        aria-label={`Select ${row.name}`}
        checked={isSelected(row)}
        onChange={() => toggle(row)}
      />
    </label>
  ),
})

/** `tasks`: running tasks by the id of their VM. */
export const stateColumn = (tasks: ReadonlyMap<string, ShownTask>): GridColumn<ListedVm> => ({
  key: 'power',
  title: 'State',
  width: '9rem',
  sort: 'status',
  cell: (row) => <VmState row={row} task={tasks.get(row.id)} />,
})

const VmState = ({
  row,
  task,
}: {
  readonly row: ListedVm
  readonly task?: ShownTask | undefined
}) =>
  task === undefined ? (
    <PowerLabel power={row.power} isBusy={row.isBusy} />
  ) : (
    <span className={style['doing']}>
      <PowerLabel
        power={row.power}
        doing={en.operation(task.operation, false).split(' ').slice(0, 2).join(' ')}
      />
      <ProgressBar percent={task.progress} label={`Progress of ${row.name}`} />
    </span>
  )

export const nameColumn: GridColumn<ListedVm> = {
  key: 'name',
  title: 'Name',
  width: 'minmax(9.5rem, 1.6fr)',
  sort: 'name',
  cell: (row) => (
    <Link className={page['strong']} to={paths.vm(row.id)} tabIndex={-1}>
      {row.name}
    </Link>
  ),
}

export const addressColumn: GridColumn<ListedVm> = {
  key: 'address',
  title: 'IP address',
  width: 'minmax(7.75rem, .9fr)',
  cell: (row) => <span className={style['address']}>{row.address ?? '–'}</span>,
}

export const sizeColumns: readonly GridColumn<ListedVm>[] = [
  {
    key: 'cpus',
    title: 'CPUs',
    width: '4.25rem',
    sort: 'numberOfCpus',
    isNumeric: true,
    cell: (row) => row.cpus,
  },
  {
    key: 'memory',
    title: 'Memory',
    width: '5.5rem',
    sort: 'memoryMB',
    isNumeric: true,
    cell: (row) => formatMiB(row.memoryMiB),
  },
  {
    key: 'disk',
    title: 'Disk',
    width: '5.5rem',
    sort: 'diskMB',
    isNumeric: true,
    cell: (row) => formatMiB(row.diskMiB),
  },
]

interface RowToolsProps {
  readonly row: ListedVm
  readonly onConsole: () => void
  readonly onMenu: (row: ListedVm, anchor: HTMLElement) => void
}

export const RowTools = ({ row, onConsole, onMenu }: RowToolsProps) => (
  <span className={style['tools']}>
    <Button
      small
      tone="plain"
      icon="console"
      plainTooltip
      tabIndex={-1}
      label={`Console of ${row.name}`}
      unavailable={row.power === 'on' ? undefined : 'the VM is not running'}
      onClick={onConsole}
    />
    <Button
      small
      tone="plain"
      icon="more"
      plainTooltip
      tabIndex={-1}
      aria-haspopup="menu"
      label={`Actions of ${row.name}`}
      onClick={(event) => onMenu(row, event.currentTarget)}
    />
  </span>
)
