import { Link } from 'react-router'

import { idOf } from '../api/client.ts'
import type { EventRecord } from '../api/query.ts'
import { Icon } from '../components/icon.tsx'
import { RelativeTime } from '../components/relative-time.tsx'
import { Table } from '../components/table.tsx'
import { en } from '../text/en.ts'
import { objectPath } from './paths.ts'

import page from '../styles/page.module.css'

interface EventTableProps {
  readonly events: readonly EventRecord[]
  /** With organisation and address of the user. */
  readonly isAudit?: boolean
}

/** 0 is a failure. */
const isFailed = ({ eventStatus }: EventRecord): boolean => eventStatus === 0

export const EventName = ({ event }: { readonly event: EventRecord }) => (
  <span className={`${page['state']} ${isFailed(event) ? page['bad'] : ''}`}>
    {isFailed(event) && <Icon name="warning" size={14} />}
    {en.event(event.eventType)}
  </span>
)

export const EventObject = ({ event }: { readonly event: EventRecord }) => {
  if (event.entityName === undefined)
    return <span className={page['soft']}>{event.entityType}</span>
  if (event.entity === undefined) return event.entityName
  return (
    <Link className={page['strong']} to={objectPath(idOf(event.entity))}>
      {event.entityName}
    </Link>
  )
}

export const EventTable = ({ events, isAudit = false }: EventTableProps) => (
  <Table
    label="Events"
    rows={events}
    keyOf={(event) => `${event.timeStamp} ${event.eventType} ${event.entity ?? ''}`}
    empty="No events yet."
    columns={[
      {
        key: 'time',
        title: 'Time',
        width: '9rem',
        isEssential: true,
        cell: (event) => (
          <span className={page['soft']}>
            <RelativeTime time={event.timeStamp} />
          </span>
        ),
      },
      {
        key: 'event',
        title: 'Event',
        isEssential: true,
        cell: (event) => <EventName event={event} />,
      },
      { key: 'object', title: 'Object', cell: (event) => <EventObject event={event} /> },
      {
        key: 'user',
        title: 'User',
        cell: (event) => <span className={page['soft']}>{event.userName}</span>,
      },
      ...(isAudit
        ? [
            {
              key: 'from',
              title: 'From',
              cell: (event: EventRecord) => (
                <span className={page['mono']}>{event.userAddress}</span>
              ),
            },
          ]
        : []),
    ]}
  />
)
