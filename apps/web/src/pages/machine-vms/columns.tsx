import { Link } from 'react-router'

import { paths } from '../../app/paths.ts'
import { Button } from '../../components/button.tsx'
import type { GridColumn } from '../../components/grid/grid-column.ts'
import type { MachineVm } from '../../model/machine/machine-vm.ts'
import type { ShownTask } from '../../model/task.ts'
import { formatMiB } from '../../text/format.ts'
import { VmState } from '../vms/columns.tsx'

import page from '../../styles/page.module.css'

export const machineVmColumns = (
  /** Running tasks by the id of their VM. */
  tasks: ReadonlyMap<string, ShownTask>,
  onMenu: (row: MachineVm, anchor: HTMLElement) => void,
): GridColumn<MachineVm>[] => [
  {
    key: 'power',
    title: 'State',
    width: '12rem',
    sort: 'status',
    cell: (row) => <VmState row={row} task={tasks.get(row.id)} />,
  },
  {
    key: 'name',
    title: 'Name',
    width: 'minmax(11rem, 1.6fr)',
    sort: 'name',
    cell: (row) => (
      <Link className={page['strong']} to={paths.vm(row.id)} tabIndex={-1}>
        {row.name}
      </Link>
    ),
  },
  {
    key: 'tag',
    title: 'Tag',
    width: 'minmax(6rem, 1fr)',
    cell: (row) => <span className={page['soft']}>{row.problem ?? row.tag}</span>,
  },
  {
    key: 'address',
    title: 'IP address',
    width: 'minmax(8rem, .9fr)',
    cell: (row) => <span className={page['mono']}>{row.address ?? '–'}</span>,
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
    width: '6rem',
    sort: 'memoryMB',
    isNumeric: true,
    cell: (row) => formatMiB(row.memoryMiB),
  },
  {
    key: 'disk',
    title: 'Disk',
    width: '6rem',
    sort: 'diskMB',
    isNumeric: true,
    cell: (row) => formatMiB(row.diskMiB),
  },
  {
    key: 'tools',
    title: <span className="visually-hidden">Actions</span>,
    width: '3rem',
    cell: (row) => (
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
    ),
  },
]
