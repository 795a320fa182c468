import { useNavigate } from 'react-router'

import { paths } from '../../app/paths.ts'
import { actionMenu, useVmActions } from '../../app/vm-actions.tsx'
import { AnchoredMenu } from '../../components/menu.tsx'
import { useVm } from '../../data/use-documents.ts'
import type { ListedVm } from '../../model/vm.ts'

export interface OpenedRow {
  readonly row: ListedVm
  readonly anchor: HTMLElement
}

interface RowMenuProps {
  readonly opened: OpenedRow | undefined
  readonly onClose: () => void
}

/** The actions of a row; its document, with the links, is read when the menu opens. */
export function RowMenu({ opened, onClose }: RowMenuProps) {
  const { data: vm } = useVm(opened?.row.id ?? '')
  const startAction = useVmActions()
  const navigate = useNavigate()
  const details = {
    text: 'Details',
    icon: 'eye' as const,
    onSelect: () => opened && void navigate(paths.vm(opened.row.id)),
  }
  const groups = vm && opened ? actionMenu(vm, vm.actions, startAction) : []
  return (
    <AnchoredMenu
      anchor={opened?.anchor}
      groups={[{ items: [details] }, ...groups]}
      onClose={onClose}
    />
  )
}
