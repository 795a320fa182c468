import { useMemo } from 'react'

import type { EventRecord } from '../../api/query.ts'
import { EventName, EventObject } from '../../app/event-table.tsx'
import { RecordGrid } from '../../app/records/record-grid.tsx'
import { useSearch } from '../../app/use-search.ts'
import { EmptyState } from '../../components/empty-state.tsx'
import { Chips, FilterBar, FilterInput } from '../../components/filter-bar.tsx'
import type { GridColumn } from '../../components/grid/grid-column.ts'
import { RelativeTime } from '../../components/relative-time.tsx'
import { escapedValue } from '../../model/filter.ts'
import { choiceParam, textParam } from '../../model/search-params.ts'
import { formatDateTime } from '../../text/format.ts'

import page from '../../styles/page.module.css'

const kinds = ['', 'task', 'vm', 'session', 'user', 'org', 'host'] as const
const kindNames = {
  '': 'All',
  task: 'Tasks',
  vm: 'VMs',
  session: 'Logins',
  user: 'Users',
  org: 'Organisations',
  host: 'Hosts',
} as const
const schema = { q: textParam(), kind: choiceParam(kinds, ''), sort: textParam('-timeStamp') }

export function EventList({ isAudit = false }: { readonly isAudit?: boolean }) {
  const [search, change] = useSearch(schema)
  const filter = [
    search.kind === '' ? '' : `eventType==${search.kind}.*`,
    search.q === ''
      ? ''
      : `(userName==*${escapedValue(search.q)}*,entityName==*${escapedValue(search.q)}*)`,
  ]
    .filter((part) => part !== '')
    .join(';')
  const columns = useMemo(() => eventColumns(isAudit), [isAudit])
  const shownKinds = kinds.filter((kind) => isAudit || (kind !== 'org' && kind !== 'host'))
  return (
    <div className={page['page']}>
      <FilterBar>
        <FilterInput
          value={search.q}
          placeholder="Filter by user or object"
          onChange={(q) => change({ q }, 'replace')}
        />
        <Chips
          label="Kind"
          value={search.kind}
          options={shownKinds.map((value) => ({ value, text: kindNames[value] }))}
          onChange={(kind) => change({ kind })}
        />
      </FilterBar>
      <RecordGrid
        title={isAudit ? 'Audit log' : 'Events'}
        type="event"
        filter={filter}
        sort={search.sort}
        onSort={(sort) => change({ sort })}
        columns={columns}
        narrow={narrowEvent}
        empty={
          <EmptyState title="No events">
            <p>Nothing has happened yet that matches this filter.</p>
          </EmptyState>
        }
      />
    </div>
  )
}

const narrowEvent = (event: EventRecord) => (
  <div className={page['narrowRow']}>
    <EventName event={event} />
    <small>
      <RelativeTime time={event.timeStamp} />
      <span>{event.entityName}</span>
      <span>{event.userName}</span>
    </small>
  </div>
)

function eventColumns(isAudit: boolean): GridColumn<EventRecord>[] {
  const columns: GridColumn<EventRecord>[] = [
    {
      key: 'time',
      title: 'Time',
      width: '13rem',
      sort: 'timeStamp',
      cell: (event) => <span className={page['soft']}>{formatDateTime(event.timeStamp)}</span>,
    },
    {
      key: 'event',
      title: 'Event',
      width: 'minmax(11rem, 1fr)',
      cell: (event) => <EventName event={event} />,
    },
    {
      key: 'object',
      title: 'Object',
      width: 'minmax(10rem, 1fr)',
      cell: (event) => <EventObject event={event} />,
    },
    {
      key: 'user',
      title: 'User',
      width: 'minmax(7rem, .6fr)',
      cell: (event) => <span className={page['soft']}>{event.userName}</span>,
    },
  ]
  if (!isAudit) return columns
  return [
    ...columns,
    {
      key: 'org',
      title: 'Organisation',
      width: 'minmax(7rem, .6fr)',
      cell: (event) => <span className={page['soft']}>{event.orgName}</span>,
    },
    {
      key: 'from',
      title: 'From',
      width: '9rem',
      cell: (event) => <span className={page['mono']}>{event.userAddress}</span>,
    },
  ]
}
