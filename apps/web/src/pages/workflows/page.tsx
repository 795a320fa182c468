import { Link, useNavigate } from 'react-router'

import { attributesOf, type WorkflowListDocument } from '../../api/workflows.ts'
import { usePageTitle } from '../../app/page-title.ts'
import { paths } from '../../app/paths.ts'
import { useSearch } from '../../app/use-search.ts'
import { Button } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { CommandLine } from '../../components/command-line.tsx'
import { EmptyState, ErrorState } from '../../components/empty-state.tsx'
import { FilterBar, FilterInput } from '../../components/filter-bar.tsx'
import { Table } from '../../components/table.tsx'
import { useSession } from '../../data/session.ts'
import { useWorkflowDocument } from '../../data/workflows/use-workflows.ts'
import { textParam } from '../../model/search-params.ts'
import { listWorkflowsCommand } from '../../model/workflows/workflow-commands.ts'
import { formatCount } from '../../text/format.ts'

import page from '../../styles/page.module.css'

const schema = { q: textParam() }
const SHOWN = 200

export function WorkflowsPage() {
  const [{ q }, change] = useSearch(schema)
  const { rights } = useSession()
  const navigate = useNavigate()
  // A comma separates conditions of the API.
  const name = q.replaceAll(',', ' ').trim()
  const filter = name === '' ? '' : `&conditions=${encodeURIComponent(`name~${name}`)}`
  const { data, error, refetch } = useWorkflowDocument<WorkflowListDocument>(
    `/workflows?maxResult=${SHOWN}&sortOrders=%2Bname${filter}`,
  )
  usePageTitle({ text: 'Workflows', total: data?.total })
  const rows = data?.link.map(attributesOf) ?? []
  return (
    <div className={`${page['page']} ${page['scrolling']}`}>
      <FilterBar
        action={
          <Button
            tone="primary"
            icon="upload"
            unavailable={rights.has('vm:edit') ? undefined : 'your role may not import workflows'}
            onClick={() => void navigate(paths.importWorkflow)}
          >
            Import workflow
          </Button>
        }
      >
        <FilterInput
          value={q}
          placeholder="Filter by name"
          onChange={(text) => change({ q: text }, 'replace')}
        />
      </FilterBar>
      <Card flush>
        {error ? (
          <ErrorState error={error} onRetry={() => void refetch()} />
        ) : data && rows.length === 0 ? (
          <EmptyState
            title={q === '' ? 'No workflows' : 'No workflow has this name'}
            commands={<CommandLine text="skerry workflow import nightly.yaml" />}
          >
            <p>A workflow runs steps on your VMs: by hand, or on a schedule.</p>
          </EmptyState>
        ) : (
          <Table
            label="Workflows"
            rows={rows}
            keyOf={({ id = '' }) => id}
            empty="Loading…"
            columns={[
              {
                key: 'name',
                title: 'Name',
                isEssential: true,
                cell: (row) => (
                  <Link className={page['strong']} to={paths.workflow(row['id'] ?? '')}>
                    {row['name']}
                  </Link>
                ),
              },
              { key: 'folder', title: 'Folder', cell: (row) => row['categoryName'] },
              { key: 'version', title: 'Version', cell: (row) => row['version'] },
              { key: 'description', title: 'Description', cell: (row) => row['description'] },
            ]}
          />
        )}
      </Card>
      {data?.total !== undefined && data.total > rows.length && (
        <p className={page['small']}>
          These are the first {formatCount(rows.length)} of {formatCount(data.total)} workflows, by
          name. Filter by name to find the others.
        </p>
      )}
      <CommandLine text={listWorkflowsCommand()} />
    </div>
  )
}
