import { useState } from 'react'
import { useNavigate, useParams } from 'react-router'

import type { QuestionDocument, RunDocument } from '../../api/workflows.ts'
import { usePageTitle } from '../../app/page-title.ts'
import { paths } from '../../app/paths.ts'
import { QuestionCard } from '../../app/workflows/question-card.tsx'
import { RunState } from '../../app/workflows/run-state.tsx'
import { WorkflowDrawing } from '../../app/workflows/workflow-drawing.tsx'
import { Button } from '../../components/button.tsx'
import { Card, Facts } from '../../components/card.tsx'
import { CommandLine } from '../../components/command-line.tsx'
import { ConfirmDialog } from '../../components/dialog.tsx'
import { ErrorState } from '../../components/empty-state.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import { useRun } from '../../data/workflows/use-run.ts'
import { useWorkflowChange } from '../../data/workflows/use-workflow-change.ts'
import { useWorkflowDocument } from '../../data/workflows/use-workflows.ts'
import { logsCommand } from '../../model/workflows/workflow-commands.ts'
import { hasRunEnded, plainValues } from '../../model/workflows/workflow-run.ts'
import { workflowText } from '../../text/workflows.ts'
import { RunLog, StepTable } from './step-table.tsx'

import page from '../../styles/page.module.css'
import style from './page.module.css'

export function RunPage() {
  const { workflow = '', run = '' } = useParams()
  return <RunView key={`${workflow}/${run}`} workflow={workflow} id={run} />
}

function RunView({ workflow, id }: Readonly<{ workflow: string; id: string }>) {
  const { path, run: found, drawing, log } = useRun(workflow, id)
  const { data: run, error, refetch } = found
  usePageTitle(
    { text: 'Workflows', to: paths.workflows },
    { text: run?.name ?? '…', to: paths.workflow(workflow) },
    { text: 'Run' },
  )
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />
  if (!run) return <div className={page['page']} aria-busy="true" />
  const waits = workflowText.waitsFor(run.state, run['current-item-display-name'])
  return (
    <div className={`${page['page']} ${page['scrolling']}`}>
      <div className={page['tools']}>
        <span role="status">
          <RunState state={run.state} />
        </span>
        <RunActions workflow={workflow} run={run} path={path} />
      </div>
      {waits !== undefined && <p className={page['soft']}>{waits}</p>}
      {run['content-exception'] !== undefined && (
        <p className={page['bad']} role="alert">
          {run['content-exception']}
        </p>
      )}
      <div className={page['columns']}>
        <div className={page['stack']}>
          {run.state === 'waiting-signal' && <RunQuestion path={path} />}
          {drawing.data && (
            <>
              <Card title="Drawing">
                <WorkflowDrawing drawing={drawing.data} />
              </Card>
              <StepTable column={drawing.data.column} times={log.times} />
            </>
          )}
          <RunLog log={log} />
        </div>
        <div className={page['stack']}>
          <RunDetails run={run} />
          <Values title="Inputs" values={plainValues(run['input-parameters'])} />
          {hasRunEnded(run.state) && (
            <Values title="Outputs" values={plainValues(run['output-parameters'])} />
          )}
          <Card title="On a terminal">
            <CommandLine wraps text={logsCommand(run.name, run.id)} />
          </Card>
        </div>
      </div>
    </div>
  )
}

const RunDetails = ({ run }: { readonly run: RunDocument }) => (
  <Card title="Details">
    <Facts
      rows={[
        ['Started by', run['started-by']],
        ['Started', <RelativeTime key="started" time={run['start-date']} />],
        run['end-date'] !== undefined && [
          'Ended',
          <RelativeTime key="ended" time={run['end-date']} />,
        ],
        run['current-item-display-name'] !== undefined && [
          'Step',
          run['current-item-display-name'],
        ],
        ['Version', run.version],
        [
          'ID',
          <span key="id" className={page['mono']}>
            {run.id}
          </span>,
        ],
      ]}
    />
  </Card>
)

const Values = ({ title, values }: Readonly<{ title: string; values: object }>) => (
  <Card title={title}>
    {Object.keys(values).length === 0 ? (
      <p className={page['soft']}>None.</p>
    ) : (
      <pre className={style['values']} tabIndex={0}>
        {JSON.stringify(values, undefined, 2)}
      </pre>
    )}
  </Card>
)

function RunQuestion({ path }: { readonly path: string }) {
  const { data } = useWorkflowDocument<QuestionDocument>(`${path}/interaction`)
  return data ? <QuestionCard key={data.id} question={data} /> : null
}

interface RunActionsProps {
  readonly workflow: string
  readonly run: RunDocument
  readonly path: string
}

function RunActions({ workflow, run, path }: RunActionsProps) {
  const navigate = useNavigate()
  const [asks, setAsks] = useState<'cancel' | 'delete'>()
  const { makeChange, isPending } = useWorkflowChange()
  const hasEnded = hasRunEnded(run.state)
  const isCanceling = run['business-state'] === 'canceling'
  const again = (): void => {
    const input = plainValues(run['input-parameters'])
    void navigate(paths.workflow(workflow), { state: { input } })
  }
  const confirm = (): void => {
    setAsks(undefined)
    if (asks === 'cancel') {
      makeChange({
        href: `${path}/state`,
        method: 'DELETE',
        success: 'The run is being canceled',
        failure: 'The run was not canceled',
      })
      return
    }
    makeChange({
      href: path,
      method: 'DELETE',
      success: 'Deleted the run',
      failure: 'The run was not deleted',
      onDone: () => void navigate(paths.workflow(workflow)),
    })
  }
  const why = isPending
    ? 'a change is in progress'
    : isCanceling
      ? 'the run is being canceled'
      : undefined
  return (
    <>
      <Button icon="restart" onClick={again}>
        Run again
      </Button>
      {hasEnded ? (
        <Button icon="trash" unavailable={why} onClick={() => setAsks('delete')}>
          Delete
        </Button>
      ) : (
        <Button icon="stop" unavailable={why} onClick={() => setAsks('cancel')}>
          Cancel run
        </Button>
      )}
      {asks && (
        <ConfirmDialog
          title={asks === 'cancel' ? 'Cancel the run' : 'Delete the run'}
          action={asks === 'cancel' ? 'Cancel run' : 'Delete'}
          onClose={() => setAsks(undefined)}
          onConfirm={confirm}
        >
          <p>
            {asks === 'cancel'
              ? 'The step in progress ends first. What is done stays done.'
              : 'Its record and its log are deleted. What it did stays done.'}
          </p>
        </ConfirmDialog>
      )}
    </>
  )
}
