import { EventTable } from '../../app/event-table.tsx'
import { TaskTable } from '../../app/task-table.tsx'
import { Card } from '../../components/card.tsx'
import { useSession } from '../../data/session.ts'
import { useRecords } from '../../data/use-record-list.ts'
import { queryFilter } from '../../model/filter.ts'
import { taskOfRecord } from '../../model/task.ts'

import page from '../../styles/page.module.css'
import style from './page.module.css'

interface ActivityTabProps {
  readonly objectName: string
  readonly objectId: string
}

const SHOWN = 50

/** The tasks and events of a VM or vApp, newest first. */
export function ActivityTab({ objectName, objectId }: ActivityTabProps) {
  // Events are those of the organisation: a share of the object does not include them.
  const hasEvents = useSession().rights.has('vm:read')
  const tasks = useRecords('task', {
    filter: queryFilter([{ column: 'objectName', operator: '==', value: objectName }], ''),
    sort: '-startDate',
    pageSize: SHOWN,
  })
  const events = useRecords('event', {
    filter: queryFilter([{ column: 'entityName', operator: '==', value: objectName }], ''),
    sort: '-timeStamp',
    pageSize: SHOWN,
    isEnabled: hasEvents,
  })
  const own = (tasks.data?.records ?? [])
    .map(taskOfRecord)
    .filter((task) => task.objectId === undefined || task.objectId === objectId)
  return (
    <div className={page['stack']}>
      <Card title="Tasks" flush>
        {own.length === 0 ? (
          <p className={style['note']}>No tasks yet.</p>
        ) : (
          <div className={style['tasks']} role="region" aria-label="Tasks of this VM" tabIndex={0}>
            <TaskTable tasks={own} />
          </div>
        )}
      </Card>
      {hasEvents && (
        <Card title="Events" flush>
          <EventTable events={events.data?.records ?? []} />
        </Card>
      )}
    </div>
  )
}
