import { useCallback, useState } from 'react'

import { runQuery, type QueryPage } from '../../api/query.ts'
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

const none: ReadonlyMap<string, ListedVm> = new Map()

export function useSelection(type: 'vm' | 'adminVM', filter: string, sort: string): Selection {
  const [rows, setRows] = useState(none)
  // Another filter is another selection.
  const [allOf, setAllOf] = useState<string>()
  const toggle = useCallback((row: ListedVm): void => {
    setAllOf(undefined)
    setRows((now) => {
      const next = new Map(now)
      if (!next.delete(row.id)) next.set(row.id, row)
      return next
    })
  }, [])
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
    setRows(all)
  }
  const selectAll = async (): Promise<void> => {
    if (type === 'adminVM') return readAll()
    setRows(none)
    setAllOf(filter)
  }
  const clear = (): void => {
    setRows(none)
    setAllOf(undefined)
  }
  return { rows, isAll: allOf === filter, toggle, clear, selectAll }
}
