import { useState } from 'react'

import type { PresentationDocument } from '../../api/workflows.ts'
import { SchemaFields, useSchemaForm } from '../../app/workflows/schema-form.tsx'
import { CommandLine } from '../../components/command-line.tsx'
import { FormDialog } from '../../components/dialog.tsx'
import { SelectField, TextField } from '../../components/field.tsx'
import { useWorkflowChange } from '../../data/workflows/use-workflow-change.ts'
import { useWorkflowDocument } from '../../data/workflows/use-workflows.ts'
import { newTimes, timesOf, whyNotTimes } from '../../model/workflows/schedule-times.ts'
import { hasSecrets } from '../../model/workflows/schema-secrets.ts'
import { scheduleCommand } from '../../model/workflows/workflow-commands.ts'
import { TimesFields } from './times-fields.tsx'

import page from '../../styles/page.module.css'

interface ScheduleDialogProps {
  readonly workflows: readonly { readonly id: string; readonly name: string }[]
  readonly onClose: () => void
}

const ownZone = Intl.DateTimeFormat().resolvedOptions().timeZone

export function ScheduleDialog({ workflows, onClose }: ScheduleDialogProps) {
  const [workflow, setWorkflow] = useState(workflows[0]?.id ?? '')
  const [name, setName] = useState('')
  const [timesForm, setTimesForm] = useState(() => newTimes(ownZone))
  const times = timesOf(timesForm)
  const { data, error } = useWorkflowDocument<PresentationDocument>(
    `/workflows/${workflow}/presentation`,
  )
  const form = useSchemaForm({ key: workflow, schema: data?.form })
  const { makeChange, isPending } = useWorkflowChange()
  const asksSecret = data !== undefined && hasSecrets(data.form)
  const why = [
    isPending && 'the schedule is being created',
    error && 'the inputs of the workflow cannot be read',
    !data && 'the inputs of the workflow are being read',
    asksSecret && 'a schedule stores no secrets',
    name === '' && 'the schedule needs a name',
    whyNotTimes(times),
  ].find((each) => typeof each === 'string')
  const submit = (): void => {
    if (why !== undefined) return
    const input = form.submit()
    if (!input) return
    makeChange({
      href: '/schedules',
      method: 'POST',
      body: { workflow, name, ...times, input },
      success: `Created ${name}`,
      failure: `${name} was not created`,
      onDone: onClose,
    })
  }
  const title = workflows.find(({ id }) => id === workflow)?.name ?? workflow
  return (
    <FormDialog
      title="Create schedule"
      wide
      onClose={onClose}
      onSubmit={submit}
      action="Create schedule"
      icon="plus"
      unavailable={why}
    >
      <div className={page['fields']}>
        <TextField
          label="Name"
          placeholder="nightly"
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        <SelectField
          label="Workflow"
          value={workflow}
          options={workflows.map(({ id, name: text }) => ({ value: id, text }))}
          onChange={setWorkflow}
        />
        <TimesFields form={timesForm} onChange={setTimesForm} />
        {asksSecret ? (
          <p className={page['bad']} role="alert">
            {title} asks for a secret, and a schedule stores no secrets. Start the workflow by hand,
            or remove the secret from it.
          </p>
        ) : (
          <>
            {data && <SchemaFields form={form} />}
            <CommandLine wraps text={scheduleCommand(title, { times, title: name }, form)} />
          </>
        )}
      </div>
    </FormDialog>
  )
}
