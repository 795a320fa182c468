import type { InteractionRow } from '../store/interactions.ts'
import type { WorkflowHrefs } from './addresses.ts'
import { field, listDocument, resource, time, type Document } from './document.ts'
import { relations } from './link.ts'
import { declaredParameters, formPart } from './parameters.ts'

const stateWord = { open: 'waiting', answered: 'answered', over: 'expired' } as const

export const interactionDocument = (row: InteractionRow, hrefs: WorkflowHrefs): Document => {
  const execution = hrefs.execution(row.workflow, row.execution)
  return resource(
    'user-interaction',
    { href: `${execution}interaction/` },
    relations([{ rel: 'up', href: execution }]),
    field('id', row.id),
    field('name', row.title),
    field('description', row.text),
    field('approver', row.approver),
    field('state', stateWord[row.state]),
    field('workflow', row.name),
    field('workflow-id', row.workflow),
    field('execution', row.execution),
    field('create-date', time(row.asked_at)),
    field('answered-by', row.answered_by ?? undefined),
    field('answer-date', time(row.answered_at)),
    declaredParameters('input-parameters', row.form),
    formPart(row.form),
  )
}

export const interactionsDocument = (
  rows: readonly InteractionRow[],
  hrefs: WorkflowHrefs,
): Document =>
  listDocument(
    'user-interactions',
    { total: rows.length },
    'user-interaction',
    rows.map((row) => interactionDocument(row, hrefs)),
  )
