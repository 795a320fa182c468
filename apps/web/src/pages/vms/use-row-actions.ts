import { useNavigate } from 'react-router'

import { paths } from '../../app/paths.ts'
import type { GridAction } from '../../components/grid/grid-column.ts'
import { useIsNarrow } from '../../components/use-media.ts'
import type { ListedVm } from '../../model/vm.ts'
import type { OpenedRow } from './row-menu.tsx'

interface RowActions<Row> {
  /** The id of the VM beside the list; '': none. */
  readonly previewed: string
  readonly onPreview: (id: string) => void
  readonly onSelect: (row: Row) => void
  readonly onMenu: (opened: OpenedRow) => void
}

/** What keys and clicks on a row of a list of VMs do. A phone has no room for a preview: the VM is opened. */
export function useRowActions<Row extends ListedVm>(actions: RowActions<Row>) {
  const { previewed, onPreview, onSelect, onMenu } = actions
  const navigate = useNavigate()
  const isNarrow = useIsNarrow()
  return (action: GridAction, row: Row, index: number, isMove: boolean): void => {
    if (action === 'select') return onSelect(row)
    if (action === 'menu') {
      const anchor = document.querySelector<HTMLElement>(`#row-${index} [aria-haspopup]`)
      return anchor ? onMenu({ row, anchor }) : undefined
    }
    if (action === 'open' || isNarrow) return void navigate(paths.vm(row.id))
    onPreview(previewed === row.id && !isMove ? '' : row.id)
  }
}
