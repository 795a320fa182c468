import { useCallback, useState } from 'react'

import { runQuery, type QueryPage } from '../../api/query.ts'
import { notifyError } from '../../data/notifications.ts'
import { noneChosen, toggleRow, type Chosen } from '../../model/selection.ts'
import { vmRowOf, type ListedVm } from '../../model/vm.ts'

export interface Selection {
  readonly rows: ReadonlyMap<string, ListedVm>
  /** All VMs that match the filter, whether they were read or not. */
  readonly isAll: boolean
  readonly toggle: (row: ListedVm) => void
  readonly clear: () => void
  /** Administrators act on VMs of many organisations, each by itself: for them, all VMs of the filter are read. */
  readonly selectAll: () => Promise<void>
}

export function useSelection(type: 'vm' | 'adminVM', filter: string, sort: string): Selection {
  const [chosen, setChosen] = useState<Chosen<ListedVm>>(noneChosen)
  const toggle = useCallback(
    (row: ListedVm): void => setChosen((now) => toggleRow(now, row, filter)),
    [filter],
  )
  const readAll = async (): Promise<void> => {
    const all = new Map<string, ListedVm>()
    let found: QueryPage<unknown>
    let page = 1
    do {
      const next = await runQuery(type, { filter, sort, page })
      for (const record of next.records) all.set(vmRowOf(record).id, vmRowOf(record))
      found = next
      page++
    } while (all.size < found.total && found.records.length > 0)
    setChosen({ rows: all, allOf: undefined })
  }
  const selectAll = async (): Promise<void> => {
    if (type === 'vm') return setChosen({ rows: new Map(), allOf: filter })
    try {
      await readAll()
    } catch (error) {
      notifyError('Not all VMs were selected', error)
    }
  }
  const clear = (): void => setChosen(noneChosen)
  // Another filter is another selection.
  return { rows: chosen.rows, isAll: chosen.allOf === filter, toggle, clear, selectAll }
}
