import { useId, type FormEvent } from 'react'
import { Link } from 'react-router'

import type { QuestionDocument } from '../../api/workflows.ts'
import { Button } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { CommandLine } from '../../components/command-line.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import { useWorkflowChange } from '../../data/workflows/use-workflow-change.ts'
import { answerCommand } from '../../model/workflows/workflow-commands.ts'
import { paths } from '../paths.ts'
import { SchemaFields, useSchemaForm } from './schema-form.tsx'

import page from '../../styles/page.module.css'

/** A question of a run, with the form of its answer. */
export function QuestionCard({ question }: { readonly question: QuestionDocument }) {
  const { name, description, workflow, execution, approver } = question
  const form = useSchemaForm({ key: `${execution}/${question.id}`, schema: question.form })
  const { makeChange, isPending } = useWorkflowChange()
  const title = useId()
  const id = question['workflow-id']
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    const input = form.submit()
    if (!input) return
    makeChange({
      href: `/workflows/${id}/executions/${execution}/interaction?id=${encodeURIComponent(question.id)}`,
      method: 'POST',
      body: { input },
      success: `Answered ${name}`,
      failure: `${name} was not answered`,
    })
  }
  return (
    <Card title={name}>
      <form className={page['stack']} noValidate aria-labelledby={title} onSubmit={submit}>
        <p id={title} className={page['small']}>
          Asked by{' '}
          <Link className={page['link']} to={paths.run(id, execution)}>
            {workflow}
          </Link>{' '}
          <RelativeTime time={question['create-date']} />
        </p>
        {description && <p>{description}</p>}
        {approver === 'other' && (
          <p className={page['soft']}>Another user than the one who started the run must answer.</p>
        )}
        <SchemaFields form={form} />
        <div className={page['tools']}>
          <Button
            type="submit"
            tone="primary"
            icon="check"
            unavailable={isPending ? 'the answer is being sent' : undefined}
          >
            Answer
          </Button>
        </div>
        <CommandLine wraps text={answerCommand(workflow, execution, form)} />
      </form>
    </Card>
  )
}
