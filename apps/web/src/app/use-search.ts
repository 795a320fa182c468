import { useCallback, useMemo } from 'react'
import { useLocation, useNavigate } from 'react-router'

import { destination } from '../data/page-state.ts'
import { readSearch, writeSearch, type SearchSchema } from '../model/search-params.ts'

export interface SearchChange<Search> {
  /** 'push': a choice, which 'back' undoes. 'replace': typing and scrolling. */
  (change: Partial<Search>, how?: 'push' | 'replace'): void
}

/** The part of the address after '?', and a function that changes it. The schema must be a constant. */
export function useSearch<Search>(
  schema: SearchSchema<Search>,
): readonly [Search, SearchChange<Search>] {
  const { pathname, search: text } = useLocation()
  const navigate = useNavigate()
  const search = useMemo(() => readSearch(schema, new URLSearchParams(text)), [schema, text])
  const change = useCallback<SearchChange<Search>>(
    (part, how = 'push') => {
      // The address itself, not the last render: two changes in a row must not undo each other.
      const current = readSearch(schema, new URLSearchParams(location.search))
      const next = writeSearch(schema, { ...current, ...part })
      if (next === writeSearch(schema, current)) return
      // Typing and scrolling are reported late: the user may be on the way to another page, which this would cancel.
      if (how === 'replace' && destination.get() !== pathname) return
      void navigate({ search: next }, { replace: how === 'replace' })
    },
    [schema, navigate, pathname],
  )
  return [search, change]
}
