import { startBulk } from '../../data/machine/bulk-run.ts'
import { findAction, isAvailable, type ActionName } from '../../model/actions.ts'
import type { MachineVm } from '../../model/machine/machine-vm.ts'
import { ChosenBar } from '../vms/chosen-bar.tsx'

const bulkActions: readonly ActionName[] = [
  'start',
  'shutdown',
  'reboot',
  'suspend',
  'powerOff',
  'delete',
]

interface MachineBulkBarProps {
  readonly chosen: readonly MachineVm[]
  /** Those that the filter finds. */
  readonly shown: readonly MachineVm[]
  readonly onChoose: (rows: readonly MachineVm[]) => void
}

/** Replaces the filter while VMs are selected. What each VM allows now decides. */
export function MachineBulkBar({ chosen, shown, onChoose }: MachineBulkBarProps) {
  const choices = bulkActions.map((name) => ({
    name,
    rows: chosen.filter(({ actions }) => {
      const action = findAction(actions, name)
      return action !== undefined && isAvailable(action)
    }),
    whyNone: whyNone(chosen, name),
  }))
  return (
    <ChosenBar
      count={chosen.length}
      total={Math.max(shown.length, chosen.length)}
      choices={choices}
      onSelectAll={() => onChoose(shown)}
      onClear={() => onChoose([])}
      onConfirm={({ name, rows }) => {
        const ids = new Set(rows.map(({ id }) => id))
        void startBulk(
          name,
          chosen.filter(({ id }) => ids.has(id)),
        )
      }}
    />
  )
}

/** The reason of the first VM. */
const whyNone = ([first]: readonly MachineVm[], name: ActionName): string =>
  (first && findAction(first.actions, name)?.unavailable) ?? 'none of the VMs allows it'
