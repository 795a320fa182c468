import { useCallback, useMemo, useState } from 'react'

import type { MachineVm } from '../../model/machine/machine-vm.ts'

/** The selected VMs, as they are now: one that was deleted is no longer selected. */
export function useChosenVms(vms: readonly MachineVm[] = []) {
  const [ids, setIds] = useState<ReadonlySet<string>>(() => new Set())
  const chosen = useMemo(() => vms.filter(({ id }) => ids.has(id)), [vms, ids])
  const isSelected = useCallback(({ id }: { readonly id: string }) => ids.has(id), [ids])
  const toggle = useCallback(({ id }: { readonly id: string }): void => {
    setIds((now) => now.symmetricDifference(new Set([id])))
  }, [])
  const choose = (rows: readonly MachineVm[]): void => setIds(new Set(rows.map(({ id }) => id)))
  return { chosen, isSelected, toggle, choose }
}
