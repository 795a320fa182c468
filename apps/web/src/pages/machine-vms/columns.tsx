import { fittingColumns } from '../../components/grid/fitting-columns.ts'
import type { GridColumn } from '../../components/grid/grid-column.ts'
import { source } from '../../data/source.ts'
import { findAction } from '../../model/actions.ts'
import type { MachineVm } from '../../model/machine/machine-vm.ts'
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
} from '../vms/row-columns.tsx'

import page from '../../styles/page.module.css'

interface MachineColumnOptions extends SelectableRows {
  /** Of the list, in pixels: columns that do not fit are left out. */
  readonly width: number
  /** Running tasks by the id of their VM. */
  readonly tasks: ReadonlyMap<string, ShownTask>
  readonly onMenu: (row: ListedVm, anchor: HTMLElement) => void
}

const LEAST_IMPORTANT = ['tag', 'disk', 'memory', 'cpus', 'address']

function openConsole(row: MachineVm): void {
  const action = findAction(row.actions, 'console')
  if (action) source().openConsole?.(action)
}

export const machineVmColumns = (options: MachineColumnOptions): GridColumn<MachineVm>[] =>
  fittingColumns<GridColumn<MachineVm>>(
    [
      selectColumn(options),
      stateColumn(options.tasks),
      nameColumn,
      {
        key: 'tag',
        title: 'Tag',
        width: 'minmax(6rem, 1fr)',
        cell: (row) => <span className={page['soft']}>{row.problem ?? row.tag}</span>,
      },
      addressColumn,
      ...sizeColumns,
      {
        key: 'tools',
        title: <span className="visually-hidden">Actions</span>,
        width: '4.75rem',
        cell: (row) => (
          <RowTools row={row} onConsole={() => openConsole(row)} onMenu={options.onMenu} />
        ),
      },
    ],
    LEAST_IMPORTANT,
    options.width,
  )
