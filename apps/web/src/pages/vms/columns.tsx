import { Link } from 'react-router'

import { paths } from '../../app/paths.ts'
import { Button } from '../../components/button.tsx'
import { fittingColumns } from '../../components/grid/fitting-columns.ts'
import type { GridColumn } from '../../components/grid/grid-column.ts'
import { PowerLabel } from '../../components/power-label.tsx'
import { ProgressBar } from '../../components/progress-bar.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import { openConsole } from '../../data/consoles.ts'
import type { ShownTask } from '../../model/task.ts'
import type { ListedVm } from '../../model/vm.ts'
import { en } from '../../text/en.ts'
import { formatMiB } from '../../text/format.ts'

import page from '../../styles/page.module.css'
import style from './vm-list.module.css'

interface ColumnOptions {
  readonly isAdministration: boolean
  /** Of the list, in pixels: columns that do not fit are left out. */
  readonly width: number
  readonly isSelected: (row: ListedVm) => boolean
  readonly toggle: (row: ListedVm) => void
  /** Running tasks by the id of their VM. */
  readonly tasks: ReadonlyMap<string, ShownTask>
  readonly onMenu: (row: ListedVm, anchor: HTMLElement) => void
}

const soft = (text: string | undefined) => <span className={page['soft']}>{text}</span>

const LEAST_IMPORTANT = ['created', 'disk', 'memory', 'cpus', 'host', 'address', 'vapp', 'org']

export function vmColumns(options: ColumnOptions): GridColumn<ListedVm>[] {
  const { isAdministration, width } = options
  const columns: (GridColumn<ListedVm> & { readonly isShown?: boolean })[] = [
    selectColumn(options),
    {
      key: 'power',
      title: 'State',
      width: '9rem',
      sort: 'status',
      cell: (row) => <VmState row={row} task={options.tasks.get(row.id)} />,
    },
    {
      key: 'name',
      title: 'Name',
      width: 'minmax(9.5rem, 1.6fr)',
      sort: 'name',
      cell: (row) => (
        <Link className={page['strong']} to={paths.vm(row.id)} tabIndex={-1}>
          {row.name}
        </Link>
      ),
    },
    {
      key: 'org',
      title: 'Organisation',
      width: 'minmax(8rem, .7fr)',
      isShown: isAdministration,
      cell: (row) => soft(row.org),
    },
    {
      key: 'vapp',
      title: 'vApp',
      width: 'minmax(6.5rem, 1fr)',
      sort: 'containerName',
      cell: (row) => soft(row.vapp),
    },
    {
      key: 'host',
      title: 'Host',
      width: 'minmax(6rem, .7fr)',
      isShown: isAdministration,
      cell: (row) => soft(row.host),
    },
    {
      key: 'address',
      title: 'IP address',
      width: 'minmax(7.75rem, .9fr)',
      cell: (row) => <span className={style['address']}>{row.address ?? '–'}</span>,
    },
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
    {
      key: 'created',
      title: 'Created',
      width: '6.75rem',
      sort: 'dateCreated',
      isNumeric: true,
      isShown: !isAdministration,
      cell: (row) => row.created !== undefined && <RelativeTime time={row.created} />,
    },
    toolsColumn(options),
  ]
  const shown = columns.filter(({ isShown = true }) => isShown)
  return fittingColumns(shown, LEAST_IMPORTANT, width)
}

const selectColumn = ({ isSelected, toggle }: ColumnOptions): GridColumn<ListedVm> => ({
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

const toolsColumn = ({ onMenu }: ColumnOptions): GridColumn<ListedVm> => ({
  key: 'tools',
  title: <span className="visually-hidden">Actions</span>,
  width: '4.75rem',
  cell: (row) => (
    <span className={style['tools']}>
      <Button
        small
        tone="plain"
        icon="console"
        plainTooltip
        tabIndex={-1}
        label={`Console of ${row.name}`}
        unavailable={row.power === 'on' ? undefined : 'the VM is not running'}
        onClick={() => openConsole(row.id)}
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
  ),
})

export const VmState = ({
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
