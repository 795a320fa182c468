// A list as long as its records, of which only the visible pages are read.
import { keepPreviousData, useQueries, useQueryClient } from '@tanstack/react-query'
import { useCallback, useState } from 'react'

import {
  countRecords,
  PAGE_SIZE,
  runQuery,
  type QueryPage,
  type QueryType,
  type RecordsByType,
} from '../api/query.ts'
import { againIfOld, failureOf, useRead } from './use-read.ts'

export interface RecordList<Row> {
  readonly total: number | undefined
  readonly rowAt: (index: number) => Row | undefined
  readonly error: Error | undefined
  /** For the grid: which rows are visible. */
  readonly onVisible: (first: number, last: number) => void
}

export interface RecordListQuery<Type extends QueryType, Row> {
  readonly type: Type
  readonly filter: string
  readonly sort: string
  readonly toRow: (record: RecordsByType[Type]) => Row
  readonly initialRow?: number
}

/** At most this many pages are read at once, however far the user scrolls. */
const PAGES_MAX = 4
const FIRST_VIEW = 40

const pageOf = (index: number): number => Math.floor(Math.max(0, index) / PAGE_SIZE) + 1
/** A list is drawn again when its pages change, and not for every row that it scrolls by. */
const pagesOf = (first: number, last: number) => ({ from: pageOf(first), until: pageOf(last) })

export function useRecordList<Type extends QueryType, Row>({
  type,
  filter,
  sort,
  toRow,
  initialRow = 0,
}: RecordListQuery<Type, Row>): RecordList<Row> {
  const cache = useQueryClient()
  const [{ from, until }, setVisible] = useState(pagesOf(initialRow, initialRow + FIRST_VIEW))
  const key = ['records', type, filter, sort]
  const pages = Array.from({ length: Math.min(PAGES_MAX, until - from + 1) }, (_, at) => from + at)
  const results = useQueries({
    queries: pages.map((page) => ({
      queryKey: [...key, page],
      queryFn: async ({ signal }: { signal: AbortSignal }): Promise<QueryPage<Row>> => {
        const { total, records } = await runQuery(type, { filter, sort, page, signal })
        return { total, records: records.map(toRow) }
      },
      refetchInterval: againIfOld,
    })),
  })
  const shown = new Map(pages.map((page, at) => [page, results[at]?.data]))
  const failed = results.filter(({ data, error }) => failureOf(data, error))
  const isRefused = failed.some(({ data }) => data)
  // While a page is loading, any other page of the same query knows the total.
  const known =
    results.find(({ data }) => data)?.data ??
    cache.getQueriesData<QueryPage<Row>>({ queryKey: key }).find(([, data]) => data)?.[1]
  return {
    total: isRefused ? undefined : known?.total,
    rowAt: (index) => {
      const page = pageOf(index)
      // The cache finds a page by its key as text, which takes longer than drawing a row.
      const read = shown.has(page)
        ? shown.get(page)
        : cache.getQueryData<QueryPage<Row>>([...key, page])
      return read?.records[index % PAGE_SIZE]
    },
    error: failed[0]?.error ?? undefined,
    onVisible: useCallback((first, last) => {
      const next = pagesOf(first, last)
      setVisible((now) => (now.from === next.from && now.until === next.until ? now : next))
    }, []),
  }
}

/** How many records match each filter. */
export const useCounts = (
  type: QueryType,
  filters: readonly string[],
  { isEnabled = true }: { readonly isEnabled?: boolean } = {},
): readonly (number | undefined)[] =>
  useQueries({
    queries: filters.map((filter) => ({
      queryKey: ['count', type, filter],
      queryFn: ({ signal }: { signal: AbortSignal }) => countRecords(type, filter, signal),
      placeholderData: keepPreviousData,
      enabled: isEnabled,
    })),
  }).map(({ data }) => data)

export interface RecordsOptions {
  readonly filter?: string
  readonly sort?: string
  readonly pageSize?: number
  readonly isEnabled?: boolean
}

/** The first page of a query. */
export const useRecords = <Type extends QueryType>(type: Type, options: RecordsOptions = {}) => {
  const { filter = '', sort = '', pageSize = PAGE_SIZE, isEnabled = true } = options
  return useRead({
    queryKey: ['records', type, 'first', filter, sort, pageSize],
    queryFn: ({ signal }) => runQuery(type, { filter, sort, pageSize, signal }),
    placeholderData: keepPreviousData,
    enabled: isEnabled,
  })
}

/** All records of a type that has thousands at most, page by page. */
export const useAllRecords = <Type extends QueryType>(type: Type) =>
  useRead({
    queryKey: ['records', type, 'all'],
    queryFn: async ({ signal }) => {
      const first = await runQuery(type, { sort: 'name', signal })
      const pages = Math.ceil(first.total / PAGE_SIZE)
      const rest = await Promise.all(
        Array.from({ length: Math.max(0, pages - 1) }, (_, at) =>
          runQuery(type, { sort: 'name', page: at + 2, signal }),
        ),
      )
      return [first, ...rest].flatMap(({ records }) => records)
    },
  })
