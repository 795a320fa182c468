import { usePageTitle } from '../../app/page-title.ts'
import { TaskTable } from '../../app/task-table.tsx'
import { EmptyState, ErrorState } from '../../components/empty-state.tsx'
import { useTasks } from '../../data/use-documents.ts'

import page from '../../styles/page.module.css'

export function MachineTasksPage() {
  const { data, error, refetch } = useTasks()
  usePageTitle({ text: 'Tasks', total: data?.total })
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />
  if (!data) return <div className={page['page']} aria-busy="true" />
  return (
    <div className={`${page['page']} ${page['scrolling']}`}>
      {data.total === 0 ? (
        <EmptyState title="No tasks yet">
          <p>Long work is listed here: creating VMs, changes of power, snapshots, imports.</p>
        </EmptyState>
      ) : (
        <div className={page['wide']} role="region" aria-label="Latest tasks" tabIndex={0}>
          <TaskTable tasks={data.tasks} />
        </div>
      )}
    </div>
  )
}
