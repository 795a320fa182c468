import { Link, useNavigate } from 'react-router'

import { EventTable } from '../../app/event-table.tsx'
import { usePageTitle } from '../../app/page-title.ts'
import { paths } from '../../app/paths.ts'
import { QuotaMeters } from '../../app/quota-meters.tsx'
import { TaskTable } from '../../app/task-table.tsx'
import { Button } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { useSession } from '../../data/session.ts'
import { useTasks } from '../../data/use-documents.ts'
import { useOwnOrg } from '../../data/use-own-org.ts'
import { useCounts, useRecords } from '../../data/use-record-list.ts'
import { queryFilter } from '../../model/filter.ts'
import { formatCount } from '../../text/format.ts'

import page from '../../styles/page.module.css'
import style from './page.module.css'

const FAILED_SHOWN = 5
const EVENTS_SHOWN = 8

/** What needs attention: failed tasks, the state of the VMs, the quota, and the latest events. */
export function OverviewPage() {
  usePageTitle({ text: 'Overview' })
  const { rights } = useSession()
  const navigate = useNavigate()
  const { data } = useTasks()
  const failed = (data?.tasks ?? []).filter(({ state }) => state === 'error')
  return (
    <div className={`${page['page']} ${page['scrolling']}`}>
      <VmNumbers />
      <div className={page['columns']}>
        <div className={page['stack']}>
          <Card
            title="Failed tasks"
            flush
            tools={
              <Link
                className={`${page['link']} ${style['more']}`}
                to={`${paths.tasks}?status=error`}
              >
                All failed tasks
              </Link>
            }
          >
            {failed.length === 0 ? (
              <p className={style['note']}>None of the latest tasks failed.</p>
            ) : (
              <div className={style['tasks']}>
                <TaskTable tasks={failed.slice(0, FAILED_SHOWN)} />
              </div>
            )}
          </Card>
          {rights.has('vm:read') && <LatestEvents />}
        </div>
        <div className={page['stack']}>
          <Card title="Start here">
            <div className={style['actions']}>
              <Button icon="plus" onClick={() => void navigate(paths.newVm)}>
                Create VM
              </Button>
              <Button icon="vapp" onClick={() => void navigate(paths.newVapp)}>
                Create vApp
              </Button>
              <Button icon="upload" onClick={() => void navigate(`${paths.templates}?upload=1`)}>
                Upload template
              </Button>
              <Button icon="key" onClick={() => void navigate(paths.settings)}>
                API tokens
              </Button>
            </div>
          </Card>
          {rights.has('org:admin') && <OwnQuota />}
        </div>
      </div>
    </div>
  )
}

/** The events are those of the whole organisation: a user who sees only what is shared with them has none. */
function LatestEvents() {
  const events = useRecords('event', { sort: '-timeStamp', pageSize: EVENTS_SHOWN })
  return (
    <Card
      title="Latest events"
      flush
      tools={
        <Link className={`${page['link']} ${style['more']}`} to={paths.events}>
          All events
        </Link>
      }
    >
      <EventTable events={events.data?.records ?? []} />
    </Card>
  )
}

const states = ['', 'on', 'off', 'suspended', 'unknown'] as const
const titles = {
  '': 'Virtual machines',
  on: 'Running',
  off: 'Powered off',
  suspended: 'Suspended',
  unknown: 'State unknown',
} as const

function VmNumbers() {
  const counts = useCounts(
    'vm',
    states.map((state) => queryFilter([], state)),
  )
  return (
    <ul className={style['numbers']}>
      {states.map((state, index) => (
        <li key={state}>
          <Link to={state === '' ? paths.vms : `${paths.vms}?status=${state}`}>
            <span>{titles[state]}</span>
            <b data-state={state}>
              {counts[index] === undefined ? '…' : formatCount(counts[index])}
            </b>
          </Link>
        </li>
      ))}
    </ul>
  )
}

function OwnQuota() {
  const { data } = useOwnOrg()
  if (!data) return null
  return (
    <Card
      title="Quota"
      tools={
        <Link className={`${page['link']} ${style['more']}`} to={paths.org}>
          Details
        </Link>
      }
    >
      <QuotaMeters org={data} />
    </Card>
  )
}
