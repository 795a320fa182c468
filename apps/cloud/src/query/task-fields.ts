import { taskStates } from '../database/tables.ts'
import { waitReasons } from '../domain/wait-reasons.ts'
import { taskTexts } from '../operations/task-texts.ts'
import { ofWait, waitColumns } from '../tasks/waits.ts'
import { boolean, number, reference, text, time, word, type Attribute } from './attribute.ts'

const operationName = `case r.operation ${[...taskTexts]
  .map(([operation, { name: taskName }]) => `when '${operation}' then '${taskName}'`)
  .join(' ')} else r.operation end collate "C"`

/** Tasks and events are kept longer than their VMs and vApps. */
export const vappOrVm = {
  resource: "case when r.vm is null then 'vapp' else 'vm' end",
  there: `case when r.vm is null
    then exists (select from vapp where vapp.id = r.vapp and vapp.deleted_at is null)
    else exists (select from vm where vm.id = r.vm and vm.deleted_at is null) end`,
}

/** A bulk operation belongs to its organisation. */
const taskObject = {
  resource: `case when r.network is not null then 'network' when r.edge_gateway is not null then 'edgeGateway' when r.vm is null and r.vapp is null then 'org'
    else ${vappOrVm.resource} end`,
  there: `case when r.network is not null
    then exists (select from network where network.id = r.network and network.deleted_at is null)
    when r.edge_gateway is not null
    then exists (select from edge_gateway where edge_gateway.id = r.edge_gateway and edge_gateway.deleted_at is null)
    else r.vapp is null or ${vappOrVm.there} end`,
}

export const taskFields = {
  name: text(`(${operationName})`),
  status: word('r.state', taskStates, { of: 'task' }),
  org: reference('r.org', 'org'),
  orgName: text('(select org.name from org where org.id = r.org)'),
  startDate: time('coalesce(r.started_at, r.created_at)'),
  endDate: time('r.ended_at', { maybe: true }),
  ownerName: text('r.owner'),
  object: reference('coalesce(r.vm, r.vapp, r.network, r.edge_gateway, r.org)', taskObject),
  objectType: word(
    `(case when r.vm is not null then 'vm' when r.vapp is not null then 'vApp'
      when r.network is not null then 'network' when r.edge_gateway is not null then 'edgeGateway' else 'org' end)`,
    ['vApp', 'vm', 'org', 'network', 'edgeGateway'],
  ),
  objectName: text('r.object_name'),
  progress: number('r.progress'),
  parent: reference('r.parent', 'task', { maybe: true }),
  isInBulk: boolean('r.in_bulk'),
  // Why it failed, or what else is worth knowing of it.
  message: text('(r.message collate "C")', { maybe: true }),
  waitReason: word(
    ofWait('r', waitColumns.reason),
    waitReasons.map(({ name: reason }) => reason),
    { maybe: true },
  ),
  waitMessage: text(`(${ofWait('r', waitColumns.words)} collate "C")`, { maybe: true }),
  waitingSince: time(ofWait('r', waitColumns.since), { maybe: true }),
  attempts: number(ofWait('r', waitColumns.attempts), { maybe: true }),
  lastFailure: text(`(${ofWait('r', waitColumns.failure)} collate "C")`, { maybe: true }),
  givesUpAt: time(ofWait('r', waitColumns.givesUpAt), { maybe: true }),
} as const satisfies Readonly<Record<string, Attribute>>
