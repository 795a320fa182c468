import { useId, useRef, useState, type FormEvent } from 'react'
import { useNavigate } from 'react-router'

import { explain } from '../../api/client.ts'
import { usePageTitle } from '../../app/page-title.ts'
import { paths } from '../../app/paths.ts'
import { Button } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { CommandLine } from '../../components/command-line.tsx'
import { CheckField, TextField } from '../../components/field.tsx'
import { notify } from '../../data/notifications.ts'
import { queryClient } from '../../data/query-client.ts'
import { useSession } from '../../data/session.ts'
import { importDefinition } from '../../data/workflows/import-workflow.ts'
import { importCommand } from '../../model/workflows/workflow-commands.ts'
import {
  markedLines,
  rangeOf,
  type ImportComplaint,
  type WorkflowImportReport,
} from '../../model/workflows/workflow-import.ts'
import { workflowText } from '../../text/workflows.ts'
import { CodeArea } from './code-area.tsx'
import { Complaints } from './complaints.tsx'

import page from '../../styles/page.module.css'

/** So that the line is not at the edge of the view. */
const LINES_ABOVE = 4

export function ImportWorkflowPage() {
  usePageTitle({ text: 'Workflows', to: paths.workflows }, { text: 'Import workflow' })
  const [text, setText] = useState('')
  const [file, setFile] = useState('')
  const [overwrite, setOverwrite] = useState(false)
  const area = useRef<HTMLTextAreaElement>(null)
  const found = useId()
  const { rights } = useSession()
  const { send, isPending, report, failure, forget } = useImport(text, overwrite)
  const complaints = report?.complaints ?? []
  const why = [
    isPending && 'the definition is being checked',
    !rights.has('vm:edit') && 'your role may not import workflows',
    text.trim() === '' && 'there is no definition yet',
  ].find((each) => typeof each === 'string')
  const change = (next: string): void => {
    setText(next)
    forget()
  }
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    if (why === undefined) void send(false)
  }
  return (
    <form
      className={`${page['page']} ${page['scrolling']}`}
      aria-label="Import workflow"
      onSubmit={submit}
    >
      <div className={`${page['columns']} ${page['form']}`}>
        <div className={page['stack']}>
          <Card>
            <div className={page['fields']}>
              <TextField
                label="File"
                type="file"
                accept=".yaml,.yml,.json"
                hint="A definition in YAML or JSON. You can also write or paste it below."
                onChange={(event) => {
                  const chosen = event.target.files?.[0]
                  if (!chosen) return
                  setFile(chosen.name)
                  void chosen.text().then(change)
                }}
              />
              <CodeArea
                ref={area}
                label="Definition"
                placeholder={'document:\n  dsl: 1.0.3\n  …'}
                value={text}
                marked={markedLines(complaints)}
                describedBy={complaints.length > 0 ? found : undefined}
                onChange={change}
              />
              <CheckField
                label="Make it the new version, if the workflow exists"
                checked={overwrite}
                onChange={setOverwrite}
              />
              <div className={page['tools']}>
                <Button type="submit" tone="primary" icon="upload" unavailable={why}>
                  Import
                </Button>
                <Button icon="check" unavailable={why} onClick={() => void send(true)}>
                  Check only
                </Button>
              </div>
            </div>
          </Card>
          <Complaints
            id={found}
            complaints={complaints}
            failure={failure}
            outcome={report && complaints.length === 0 ? workflowText.wouldBe(report) : undefined}
            onShow={(complaint) => showPlace(area.current, complaint)}
          />
        </div>
        <Card title="On a terminal">
          <div className={page['stack']}>
            <CommandLine wraps text={importCommand(file || 'nightly.yaml', overwrite)} />
            <p className={page['small']}>
              A file that was exported (.workflow) is imported on a terminal.
            </p>
          </div>
        </Card>
      </div>
    </form>
  )
}

/** Selects the place of an error. */
function showPlace(area: HTMLTextAreaElement | null, complaint: ImportComplaint): void {
  if (!area) return
  const lineHeight = Number.parseFloat(getComputedStyle(area).lineHeight)
  area.focus()
  area.setSelectionRange(...rangeOf(area.value, complaint))
  area.scrollTop = Math.max(0, (complaint.line ?? 1) - LINES_ABOVE) * lineHeight
}

function useImport(text: string, overwrite: boolean) {
  const [isPending, setPending] = useState(false)
  const [report, setReport] = useState<WorkflowImportReport>()
  const [failure, setFailure] = useState<string>()
  const navigate = useNavigate()
  const forget = (): void => {
    setReport(undefined)
    setFailure(undefined)
  }
  const send = async (dryRun: boolean): Promise<void> => {
    setPending(true)
    forget()
    try {
      const answer = await importDefinition(text, { overwrite, dryRun })
      if (dryRun || answer.result === 'refused') return setReport(answer)
      void queryClient.invalidateQueries({ queryKey: ['workflow'] })
      notify({ tone: 'success', title: workflowText.imported(answer) })
      if (answer.id !== undefined) void navigate(paths.workflow(answer.id))
    } catch (error) {
      setFailure(explain(error))
    } finally {
      setPending(false)
    }
  }
  return { send, isPending, report, failure, forget }
}
