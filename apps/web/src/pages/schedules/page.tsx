import { useState } from 'react'
import { Link } from 'react-router'

import {
  attributesOf,
  type ScheduleDocument,
  type SchedulesDocument,
  type WorkflowListDocument,
} from '../../api/workflows.ts'
import { usePageTitle } from '../../app/page-title.ts'
import { paths } from '../../app/paths.ts'
import { Button } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { CommandLine } from '../../components/command-line.tsx'
import { ConfirmDialog } from '../../components/dialog.tsx'
import { EmptyState, ErrorState } from '../../components/empty-state.tsx'
import { FilterBar } from '../../components/filter-bar.tsx'
import { Table } from '../../components/table.tsx'
import { useWorkflowChange } from '../../data/workflows/use-workflow-change.ts'
import { useWorkflowDocument, useWorkflowList } from '../../data/workflows/use-workflows.ts'
import { pauseCommand } from '../../model/workflows/workflow-commands.ts'
import { workflowText } from '../../text/workflows.ts'
import { ScheduleDialog } from './schedule-dialog.tsx'

import page from '../../styles/page.module.css'

const SHOWN = 1000

export function SchedulesPage() {
  const { data, error, refetch } = useWorkflowList<SchedulesDocument>('/schedules')
  const listed = useWorkflowDocument<WorkflowListDocument>(
    `/workflows?maxResult=${SHOWN}&sortOrders=%2Bname`,
  )
  const [isAdding, setAdding] = useState(false)
  const workflows = (listed.data?.link ?? []).map(attributesOf).map(({ id = '', name = '' }) => ({
    id,
    name,
  }))
  const nameOf = (id: string): string => workflows.find((each) => each.id === id)?.name ?? id
  const rows = data?.schedule ?? []
  const [first] = rows
  usePageTitle({ text: 'Schedules', total: data && rows.length })
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />
  return (
    <div className={`${page['page']} ${page['scrolling']}`}>
      <FilterBar
        action={
          <Button
            tone="primary"
            icon="plus"
            unavailable={
              listed.data
                ? workflows.length === 0
                  ? 'there is no workflow'
                  : undefined
                : 'the workflows are being read'
            }
            onClick={() => setAdding(true)}
          >
            Create schedule
          </Button>
        }
      >
        {null}
      </FilterBar>
      <Card flush>
        {data && rows.length === 0 ? (
          <EmptyState title="No schedules">
            <p>A schedule starts a workflow at fixed times, with your rights.</p>
          </EmptyState>
        ) : (
          <ScheduleTable rows={rows} nameOf={nameOf} />
        )}
      </Card>
      {first && <CommandLine wraps text={pauseCommand(nameOf(first.workflow), first.id)} />}
      {isAdding && <ScheduleDialog workflows={workflows} onClose={() => setAdding(false)} />}
    </div>
  )
}

interface ScheduleTableProps {
  readonly rows: readonly ScheduleDocument[]
  readonly nameOf: (workflow: string) => string
}

function ScheduleTable({ rows, nameOf }: ScheduleTableProps) {
  return (
    <Table
      label="Schedules"
      rows={rows}
      keyOf={({ id }) => id}
      empty="Loading…"
      columns={[
        { key: 'name', title: 'Name', isEssential: true, cell: ({ name }) => name },
        {
          key: 'workflow',
          title: 'Workflow',
          cell: ({ workflow }) => (
            <Link className={page['link']} to={paths.workflow(workflow)}>
              {nameOf(workflow)}
            </Link>
          ),
        },
        {
          key: 'times',
          title: 'Times',
          cell: (each) =>
            workflowText.scheduleTimes(each.cron, each['every-seconds'], each['time-zone']),
        },
        { key: 'user', title: 'Runs as', cell: ({ user }) => user },
        {
          key: 'state',
          title: 'State',
          cell: ({ state, 'paused-because': why }) =>
            state === 'suspended' ? `Paused${why === undefined ? '' : `: ${why}`}` : 'Active',
        },
        {
          key: 'tools',
          title: 'Actions',
          isTitleHidden: true,
          isNumeric: true,
          isEssential: true,
          cell: (schedule) => <ScheduleActions schedule={schedule} />,
        },
      ]}
    />
  )
}

function ScheduleActions({ schedule }: { readonly schedule: ScheduleDocument }) {
  const { id, name, state } = schedule
  const [asks, setAsks] = useState(false)
  const { makeChange } = useWorkflowChange()
  const isPaused = state === 'suspended'
  const turn = (): void =>
    makeChange({
      href: `/schedules/${id}/action/${isPaused ? 'resume' : 'pause'}`,
      method: 'POST',
      success: `${isPaused ? 'Resumed' : 'Paused'} ${name}`,
      failure: `${name} was not ${isPaused ? 'resumed' : 'paused'}`,
    })
  const remove = (): void => {
    setAsks(false)
    makeChange({
      href: `/schedules/${id}`,
      method: 'DELETE',
      success: `Deleted ${name}`,
      failure: `${name} was not deleted`,
    })
  }
  return (
    <>
      <Button small tone="plain" icon={isPaused ? 'play' : 'stop'} onClick={turn}>
        {isPaused ? 'Resume' : 'Pause'}
      </Button>
      <Button
        small
        tone="plain"
        icon="trash"
        label={`Delete ${name}`}
        onClick={() => setAsks(true)}
      />
      {asks && (
        <ConfirmDialog
          title={`Delete ${name}`}
          action="Delete"
          icon="trash"
          onClose={() => setAsks(false)}
          onConfirm={remove}
        >
          <p>It starts no more runs. Runs in progress continue.</p>
        </ConfirmDialog>
      )}
    </>
  )
}
