import { useId, type FormEvent } from 'react'
import { useLocation, useNavigate, useParams } from 'react-router'

import {
  hasWorkflowLink,
  type DrawingDocument,
  type PresentationDocument,
  type RunDocument,
  type WorkflowDocument,
} from '../../api/workflows.ts'
import { usePageTitle } from '../../app/page-title.ts'
import { paths } from '../../app/paths.ts'
import { SchemaFields, useSchemaForm } from '../../app/workflows/schema-form.tsx'
import { WorkflowDrawing } from '../../app/workflows/workflow-drawing.tsx'
import { Button } from '../../components/button.tsx'
import { Card, Facts } from '../../components/card.tsx'
import { CommandLine } from '../../components/command-line.tsx'
import { ErrorState } from '../../components/empty-state.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import { useWorkflowChange } from '../../data/workflows/use-workflow-change.ts'
import { useWorkflowDocument } from '../../data/workflows/use-workflows.ts'
import { runCommand } from '../../model/workflows/workflow-commands.ts'
import { RunList } from './run-list.tsx'

import page from '../../styles/page.module.css'

export function WorkflowPage() {
  const id = useParams()['workflow'] ?? ''
  const path = `/workflows/${encodeURIComponent(id)}`
  const { data: workflow, error, refetch } = useWorkflowDocument<WorkflowDocument>(path)
  const drawing = useWorkflowDocument<DrawingDocument>(`${path}/schema`)
  usePageTitle({ text: 'Workflows', to: paths.workflows }, { text: workflow?.name ?? '…' })
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />
  if (!workflow) return <div className={page['page']} aria-busy="true" />
  return (
    <div className={`${page['page']} ${page['scrolling']}`}>
      {workflow.description && <p className={page['soft']}>{workflow.description}</p>}
      <div className={page['columns']}>
        <div className={page['stack']}>
          <StartCard workflow={workflow} path={path} />
          <RunList workflow={id} path={path} />
        </div>
        <div className={page['stack']}>
          <Card title="Details">
            <Facts
              rows={[
                ['Version', workflow.version],
                ['Folder', workflow.category],
                ['Owner', workflow.owner],
                workflow['changed-at'] !== undefined && [
                  'Changed',
                  <RelativeTime key="changed" time={workflow['changed-at']} />,
                ],
              ]}
            />
          </Card>
          {drawing.data && (
            <Card title="Steps">
              <WorkflowDrawing drawing={drawing.data} />
            </Card>
          )}
        </div>
      </div>
    </div>
  )
}

interface StartCardProps {
  readonly workflow: WorkflowDocument
  readonly path: string
}

/** The form of the inputs. An earlier run may have given their values: its page leads here to run it again. */
function StartCard({ workflow, path }: StartCardProps) {
  const { key, state } = useLocation() as {
    readonly key: string
    readonly state: { readonly input?: unknown } | null
  }
  const { data, error } = useWorkflowDocument<PresentationDocument>(`${path}/presentation`)
  const form = useSchemaForm({
    key: `${workflow.id} ${key}`,
    schema: data?.form,
    given: state?.input,
  })
  const { makeChange, isPending } = useWorkflowChange<RunDocument>()
  const navigate = useNavigate()
  const title = useId()
  const why = [
    isPending && 'the run is being started',
    !hasWorkflowLink(workflow, 'add') && 'your role may not run workflows',
    error && 'the inputs cannot be read',
    !data && 'the inputs are being read',
  ].find((each) => typeof each === 'string')
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    const input = why === undefined && form.submit()
    if (!input) return
    makeChange({
      href: `${path}/executions`,
      method: 'POST',
      body: { input },
      success: `Started ${workflow.name}`,
      failure: `${workflow.name} was not started`,
      onDone: (run) => void navigate(paths.run(workflow.id, run.id)),
    })
  }
  return (
    <Card title="Run">
      <form className={page['stack']} noValidate aria-labelledby={title} onSubmit={submit}>
        <span id={title} className="visually-hidden">
          Inputs of {workflow.name}
        </span>
        {data && <SchemaFields form={form} />}
        <div className={page['tools']}>
          <Button type="submit" tone="primary" icon="play" unavailable={why}>
            Run workflow
          </Button>
        </div>
        <CommandLine wraps text={runCommand(workflow.name, form)} />
      </form>
    </Card>
  )
}
