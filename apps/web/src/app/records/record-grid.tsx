import type { ReactNode } from 'react'

import type { QueryType, RecordsByType } from '../../api/query.ts'
import { ErrorState } from '../../components/empty-state.tsx'
import type { GridColumn } from '../../components/grid/grid-column.ts'
import { Grid } from '../../components/grid/grid.tsx'
import { useIsNarrow } from '../../components/use-media.ts'
import { density, rowHeightOf } from '../../data/preferences.ts'
import { useStore } from '../../data/store.ts'
import { useRecordList } from '../../data/use-record-list.ts'
import { usePageTitle } from '../page-title.ts'

import page from '../../styles/page.module.css'

interface RecordGridProps<Type extends QueryType> {
  /** The title of the page; the grid adds the total. */
  readonly title: string
  readonly type: Type
  readonly filter: string
  readonly sort: string
  readonly onSort: (sort: string) => void
  readonly columns: readonly GridColumn<RecordsByType[Type]>[]
  /** Draws a record on a phone; must be a constant. */
  readonly narrow: (record: RecordsByType[Type]) => ReactNode
  readonly onOpen?: (record: RecordsByType[Type]) => void
  readonly empty: ReactNode
  readonly className?: string | undefined
}

const unchanged = <T,>(record: T): T => record

/** A page that lists the records of a query. */
export function RecordGrid<Type extends QueryType>(props: RecordGridProps<Type>) {
  const { title, type, filter, sort, onOpen } = props
  const list = useRecordList({ type, filter, sort, toRow: unchanged<RecordsByType[Type]> })
  usePageTitle({ text: title, total: list.total })
  const isNarrow = useIsNarrow()
  const rowHeight = rowHeightOf(useStore(density))
  return (
    <div className={props.className ?? page['list']}>
      <Grid
        key={filter}
        label={title}
        columns={props.columns}
        total={list.total}
        rowAt={list.rowAt}
        sort={sort}
        onSort={props.onSort}
        onVisible={list.onVisible}
        onAction={(_, record) => onOpen?.(record)}
        rowHeight={rowHeight}
        narrow={isNarrow ? props.narrow : undefined}
        failed={list.error && <ErrorState error={list.error} />}
        empty={props.empty}
      />
    </div>
  )
}
