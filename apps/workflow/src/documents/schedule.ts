import type { RunValues } from '../store/database.ts'
import type { ScheduleRow } from '../store/schedules.ts'
import type { WorkflowHrefs } from './addresses.ts'
import { field, listDocument, resource, time, type Document } from './document.ts'
import { relations } from './link.ts'
import { parameterValues } from './parameters.ts'

export const scheduleDocument = (
  row: ScheduleRow,
  hrefs: WorkflowHrefs,
  form: RunValues | null = null,
): Document => {
  const href = hrefs.schedule(row.id)
  const turn = row.paused ? 'resume' : 'pause'
  return resource(
    'schedule',
    { href },
    relations([
      { rel: 'up', href: hrefs.workflow(row.workflow) },
      { rel: turn, href: `${href}action/${turn}/` },
      { rel: 'remove', href },
    ]),
    field('id', row.id),
    field('name', row.name),
    field('workflow', row.workflow),
    field('state', row.paused ? 'suspended' : 'pending'),
    field('paused-because', row.paused_why ?? undefined),
    field('cron', row.cron ?? undefined),
    field('every-seconds', row.every_seconds ?? undefined),
    field('time-zone', row.time_zone),
    field('overlap', row.overlap),
    field('user', row.account_name),
    field('create-date', time(row.made_at)),
    parameterValues('input-parameters', form, row.input),
  )
}

export const schedulesDocument = (rows: readonly ScheduleRow[], hrefs: WorkflowHrefs): Document =>
  listDocument(
    'schedules',
    { total: rows.length },
    'schedule',
    rows.map((row) => scheduleDocument(row, hrefs)),
  )
