import { useCallback, useState } from 'react'

import { runQuery, type QueryPage } from '../../api/query.ts'
import { vmRowOf, type ListedVm } from '../../model/vm.ts'

export interface Selection {
  readonly rows: ReadonlyMap<string, ListedVm>
  readonly toggle: (row: ListedVm) => void
  readonly clear: () => void
  /** Reads all VMs of the filter, so that they are known by name before anything is done with them. */
  readonly selectAll: () => Promise<void>
}

export function useSelection(type: 'vm' | 'adminVM', filter: string, sort: string): Selection {
  const [rows, setRows] = useState<ReadonlyMap<string, ListedVm>>(new Map())
  const toggle = useCallback((row: ListedVm): void => {
    setRows((now) => {
      const next = new Map(now)
      if (!next.delete(row.id)) next.set(row.id, row)
      return next
    })
  }, [])
  const selectAll = async (): Promise<void> => {
    const all = new Map<string, ListedVm>()
    let found: QueryPage<unknown>
    let page = 1
    do {
      const next = await runQuery(type, { filter, sort, page })
      for (const record of next.records) all.set(vmRowOf(record).id, vmRowOf(record))
      found = next
      page++
    } while (all.size < found.total && found.records.length > 0)
    setRows(all)
  }
  return { rows, toggle, clear: () => setRows(new Map()), selectAll }
}
