import type { Hrefs } from '../addresses.ts'
import type { InteractionRow } from '../store/interactions.ts'
import { field, repeated, thing, time, type Document } from './document.ts'
import { relations } from './link.ts'
import { asked } from './parameters.ts'

const stateWord = { open: 'waiting', answered: 'answered', over: 'expired' } as const

export const interactionDocument = (row: InteractionRow, hrefs: Hrefs): Document => {
  const execution = hrefs.execution(row.workflow, row.execution)
  return thing(
    'user-interaction',
    { href: `${execution}interaction/` },
    relations([{ rel: 'up', href: execution }]),
    field('id', row.id),
    field('name', row.title),
    field('description', row.text),
    field('state', stateWord[row.state]),
    field('workflow', row.name),
    field('execution', row.execution),
    field('create-date', time(row.asked_at)),
    field('answered-by', row.answered_by ?? undefined),
    field('answer-date', time(row.answered_at)),
    asked('input-parameters', row.form),
  )
}

export const interactionsDocument = (rows: readonly InteractionRow[], hrefs: Hrefs): Document =>
  repeated(
    'user-interactions',
    { total: rows.length },
    'user-interaction',
    rows.map((row) => interactionDocument(row, hrefs)),
  )
