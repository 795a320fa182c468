import { fittingColumns } from '../../components/grid/fitting-columns.ts'
import type { GridColumn } from '../../components/grid/grid-column.ts'
import { RelativeTime } from '../../components/relative-time.tsx'
import { openConsole } from '../../data/consoles.ts'
import type { ShownTask } from '../../model/task.ts'
import type { ListedVm } from '../../model/vm.ts'
import {
  addressColumn,
  nameColumn,
  RowTools,
  selectColumn,
  sizeColumns,
  stateColumn,
  type SelectableRows,
} from './row-columns.tsx'

import page from '../../styles/page.module.css'

interface ColumnOptions extends SelectableRows {
  readonly isAdministration: boolean
  /** Of the list, in pixels: columns that do not fit are left out. */
  readonly width: number
  /** Running tasks by the id of their VM. */
  readonly tasks: ReadonlyMap<string, ShownTask>
  readonly onMenu: (row: ListedVm, anchor: HTMLElement) => void
}

const soft = (text: string | undefined) => <span className={page['soft']}>{text}</span>

const LEAST_IMPORTANT = ['created', 'disk', 'memory', 'cpus', 'host', 'address', 'vapp', 'org']

export function vmColumns(options: ColumnOptions): GridColumn<ListedVm>[] {
  const { isAdministration, width, tasks, onMenu } = options
  const columns: (GridColumn<ListedVm> & { readonly isShown?: boolean })[] = [
    selectColumn(options),
    stateColumn(tasks),
    nameColumn,
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
    addressColumn,
    ...sizeColumns,
    {
      key: 'created',
      title: 'Created',
      width: '6.75rem',
      sort: 'dateCreated',
      isNumeric: true,
      isShown: !isAdministration,
      cell: (row) => row.created !== undefined && <RelativeTime time={row.created} />,
    },
    {
      key: 'tools',
      title: <span className="visually-hidden">Actions</span>,
      width: '4.75rem',
      cell: (row) => <RowTools row={row} onConsole={() => openConsole(row.id)} onMenu={onMenu} />,
    },
  ]
  const shown = columns.filter(({ isShown = true }) => isShown)
  return fittingColumns(shown, LEAST_IMPORTANT, width)
}
