import type { ReactNode } from 'react'
import { useNavigate } from 'react-router'

import type { QueryType, RecordsByType } from '../../api/query.ts'
import { Button } from '../../components/button.tsx'
import { FilterBar, FilterInput } from '../../components/filter-bar.tsx'
import type { GridColumn } from '../../components/grid/grid-column.ts'
import { useSession } from '../../data/session.ts'
import { nameFilter } from '../../model/filter.ts'
import { textParam } from '../../model/search-params.ts'
import { en } from '../../text/en.ts'
import { useSearch } from '../use-search.ts'
import { RecordGrid } from './record-grid.tsx'

import page from '../../styles/page.module.css'

interface RecordPageProps<Type extends QueryType> {
  readonly title: string
  readonly type: Type
  readonly placeholder: string
  readonly create: {
    readonly text: string
    /** The right that it needs. */
    readonly right: string
    readonly onClick: () => void
  }
  readonly columns: readonly GridColumn<RecordsByType[Type]>[]
  /** Draws a record on a phone; must be a constant. */
  readonly narrow: (record: RecordsByType[Type]) => ReactNode
  readonly pathOf: (record: RecordsByType[Type]) => string
  /** Shown instead of rows; the filter is empty if there are no records at all. */
  readonly empty: (filter: string) => ReactNode
}

const schema = { q: textParam(), sort: textParam('name') }

/** A page that lists the records of a query, with a filter by name and a button that creates one. */
export function RecordPage<Type extends QueryType>(props: RecordPageProps<Type>) {
  const { title, type, placeholder, create, columns, narrow, pathOf, empty } = props
  const [search, change] = useSearch(schema)
  const filter = nameFilter(search.q)
  const { rights, role } = useSession()
  const navigate = useNavigate()
  return (
    <div className={page['page']}>
      <FilterBar
        action={
          <Button
            tone="primary"
            icon="plus"
            unavailable={rights.has(create.right) ? undefined : en.missingRight(role, create.right)}
            onClick={create.onClick}
          >
            {create.text}
          </Button>
        }
      >
        <FilterInput
          value={search.q}
          placeholder={placeholder}
          onChange={(q) => change({ q }, 'replace')}
        />
      </FilterBar>
      <RecordGrid
        title={title}
        type={type}
        filter={filter}
        sort={search.sort}
        onSort={(sort) => change({ sort })}
        columns={columns}
        narrow={narrow}
        onOpen={(record) => void navigate(pathOf(record))}
        empty={empty(filter)}
      />
    </div>
  )
}
