import { usePageTitle } from '../../app/page-title.ts'
import { TaskTable } from '../../app/task-table.tsx'
import { useSearch } from '../../app/use-search.ts'
import { Card } from '../../components/card.tsx'
import { EmptyState, ErrorState } from '../../components/empty-state.tsx'
import { Chips, FilterBar, FilterInput } from '../../components/filter-bar.tsx'
import { useTask, useTasks } from '../../data/use-documents.ts'
import { useRecords } from '../../data/use-record-list.ts'
import { escapedValue } from '../../model/filter.ts'
import { choiceParam, textParam } from '../../model/search-params.ts'
import { taskOfRecord } from '../../model/task.ts'
import { en } from '../../text/en.ts'

import page from '../../styles/page.module.css'

const statuses = ['', 'running', 'queued', 'success', 'error', 'canceled'] as const
/** `of`: the results of one action on many VMs. */
const schema = { q: textParam(), status: choiceParam(statuses, ''), of: textParam() }
const SHOWN = 100

/** The action whose results are listed. */
function BulkTask({ id }: { readonly id: string }) {
  const { data: parent } = useTask(id)
  if (!parent) return null
  return (
    <Card flush>
      <TaskTable tasks={[parent]} />
    </Card>
  )
}

export function TasksPage() {
  const [search, change] = useSearch(schema)
  // Keeps the progress of running tasks up to date.
  const latest = useTasks()
  const filter = [
    search.of === '' ? '' : `parent==${escapedValue(search.of)}`,
    search.status === '' ? '' : `status==${search.status}`,
    search.q === '' ? '' : `objectName==*${escapedValue(search.q)}*`,
  ]
    .filter((part) => part !== '')
    .join(';')
  const found = useRecords('task', {
    filter,
    // Of an action on many VMs, those that failed come first.
    sort: search.of === '' ? '-startDate' : 'status',
    pageSize: SHOWN,
    isEnabled: filter !== '',
  })
  const tasks =
    filter === '' ? (latest.data?.tasks ?? []) : (found.data?.records.map(taskOfRecord) ?? [])
  const total = filter === '' ? latest.data?.total : found.data?.total
  const error = latest.error ?? found.error
  usePageTitle({ text: 'Tasks', total })
  return (
    <div className={`${page['page']} ${page['scrolling']}`}>
      <FilterBar>
        <FilterInput
          value={search.q}
          placeholder="Filter by name of VM or vApp"
          onChange={(q) => change({ q }, 'replace')}
        />
        <Chips
          label="State"
          value={search.status}
          options={statuses.map((value) => ({
            value,
            text: value === '' ? 'All' : en.taskState[value],
          }))}
          onChange={(status) => change({ status })}
        />
      </FilterBar>
      {search.of !== '' && <BulkTask id={search.of} />}
      <Card flush>
        {error ? (
          <ErrorState error={error} />
        ) : tasks.length === 0 && total === 0 ? (
          <EmptyState title="No tasks">
            <p>Every change of a VM or vApp is a task and appears here.</p>
          </EmptyState>
        ) : (
          <TaskTable tasks={tasks} />
        )}
      </Card>
    </div>
  )
}
