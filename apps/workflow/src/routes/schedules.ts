import { Fault } from '@skerry/fault'
import { Compile, type Static, Type } from '@skerry/schema'
import { fieldsOf } from '@skerry/serverless-workflow'
import type { Body } from '@skerry/service'
import { attribute, children, localName, readXml, text } from '@skerry/xml'

import type { WorkflowRequestContext } from '../context.ts'
import { at, WorkflowHrefs } from '../documents/addresses.ts'
import { scheduleDocument, schedulesDocument } from '../documents/schedule.ts'
import type { WorkflowCaller } from '../http/caller.ts'
import { workflowFinders } from '../http/path-workflows.ts'
import { route } from '../http/route.ts'
import { authorize, authorizeOwn, type WorkflowPrincipal } from '../identity/rights.ts'
import { tryToEndSchedule } from '../runs/end-schedule.ts'
import { checkRunInput } from '../runs/start-execution.ts'
import { overlaps } from '../store/database.ts'
import {
  addSchedule,
  deleteSchedule,
  listSchedules,
  openSchedule,
  pauseSchedule,
  type NewSchedule,
  type ScheduleRow,
} from '../store/schedules.ts'
import { readVersion, type FoundWorkflow } from '../store/workflows.ts'
import { readContext, type Context } from '../values/read.ts'

const SECONDS_LEAST = 10
const SECONDS_MOST = 366 * 24 * 3600

const ScheduleBody = Type.Object({
  workflow: Type.Optional(Type.String()),
  name: Type.String({ minLength: 1, maxLength: 255, pattern: '^\\P{Cc}+$' }),
  cron: Type.Optional(Type.String({ maxLength: 255, pattern: '^\\S+( \\S+){4,6}$' })),
  'every-seconds': Type.Optional(Type.Integer({ minimum: SECONDS_LEAST, maximum: SECONDS_MOST })),
  'time-zone': Type.Optional(Type.String({ maxLength: 64 })),
  overlap: Type.Optional(Type.Enum([...overlaps])),
  paused: Type.Optional(Type.Boolean()),
})
const compiled = Compile(ScheduleBody)

interface NewAsked extends Static<typeof ScheduleBody> {
  readonly context: Context
}

/** Name, times and time zone, and the parameters of an execution-context. */
const schedule: Body<NewAsked> = {
  media: 'application/xml or application/json',
  shape: 'schedule',
  read(raw) {
    const { context, ...fields } = raw.trim().startsWith('<') ? fromXml(raw) : fromJson(raw)
    if (!compiled.Check(fields)) {
      const [first] = compiled.Errors(fields)
      const where = first?.instancePath.slice(1) || 'a schedule'
      throw new Fault('invalid', `${where} ${first?.message ?? 'is invalid'}`)
    }
    return { ...fields, context }
  },
}

function fromXml(raw: string): { readonly context: Context } {
  const root = readXml(raw)
  const inside = children(root)
  const fields = inside
    .filter((each) => localName(each.name) !== 'parameters')
    .map((each) => [localName(each.name), scalarFromText(text(each) ?? '')])
  const parameters = inside.filter((each) => localName(each.name) === 'parameters')
  const name = attribute(root, 'name')
  return {
    ...(name !== undefined && { name }),
    ...Object.fromEntries(fields),
    context: readContext({ name: 'execution-context', attributes: {}, children: parameters }),
  }
}

/** XML has only text. */
const scalarFromText = (value: string): string | number | boolean => {
  if (/^[0-9]{1,9}$/.test(value)) return Number(value)
  return value === 'true' || value === 'false' ? value === 'true' : value
}

function fromJson(raw: string): { readonly context: Context } {
  let given: unknown
  try {
    given = JSON.parse(raw)
  } catch (cause) {
    throw new Fault('invalid', 'the body must be a schedule in XML or JSON', { cause })
  }
  if (typeof given !== 'object' || given === null) {
    throw new Fault('invalid', 'a schedule must be an object')
  }
  const { parameters, input, ...fields } = given as Readonly<Record<string, unknown>>
  const context = readContext(JSON.stringify({ parameters, input }))
  return { ...fields, context }
}

/** Requires exactly one of both, and a valid time zone. */
function timesOf({ cron, 'every-seconds': everySeconds, 'time-zone': zone = 'UTC' }: NewAsked) {
  if ((cron === undefined) === (everySeconds === undefined)) {
    throw new Fault('invalid', 'a schedule needs either cron or every-seconds', {
      hint: 'cron is minute, hour, day of the month, month, day of the week: 0 3 * * *',
    })
  }
  if (!isTimeZone(zone)) {
    throw new Fault('invalid', `unknown time zone ${zone}`, {
      hint: 'use a name such as Europe/Berlin or UTC',
    })
  }
  return { cron, everySeconds, timeZone: zone }
}

function isTimeZone(timeZone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}

/** A secret would have to be stored as long as the schedule exists. */
function refuseSecrets(form: Parameters<typeof fieldsOf>[0]): void {
  const secret = fieldsOf(form).find((each) => each.secret)
  if (!secret) return
  throw new Fault('invalid', `${secret.name} is a secret, and a schedule cannot store secrets`, {
    hint: 'remove the secret from the workflow, or start it manually',
  })
}

async function create(
  context: WorkflowRequestContext,
  { principal }: WorkflowCaller,
  workflow: FoundWorkflow,
  body: NewAsked,
): Promise<ScheduleRow> {
  const times = timesOf(body)
  const { form } = await context.as(principal, (tx) => readVersion(tx, workflow))
  refuseSecrets(form ?? undefined)
  const input = await checkRunInput(context, form, body.context)
  const made: NewSchedule = {
    org: workflow.org,
    id: context.uuid(),
    workflow: workflow.id,
    name: body.name,
    account: principal.account,
    accountName: principal.user,
    ...times,
    input,
    overlap: body.overlap ?? 'skip',
    paused: body.paused ?? false,
  }
  await context.as(principal, (tx) => addSchedule(tx, made))
  try {
    const { org, id, account } = made
    await context.grants.ask({ id, org, account, kind: 'schedule' })
    return await context.as(principal, async (tx) => {
      const row = await openSchedule(tx, made)
      // Inside the transaction: a schedule that Temporal does not accept does not exist.
      await context.runs.schedules.create(row)
      return row
    })
  } catch (error) {
    await tryToEndSchedule(context, principal, made.id)
    throw error
  }
}

async function answerCreated(context: WorkflowRequestContext, row: ScheduleRow) {
  const hrefs = new WorkflowHrefs(context.base)
  return {
    status: 201,
    headers: { location: hrefs.schedule(row.id) },
    body: scheduleDocument(row, hrefs),
  }
}

/** A changed workflow would run on behalf of the schedule's owner, so only the owner may approve the change. */
function requireOwner(
  principal: WorkflowPrincipal,
  { account, account_name, paused_why: why }: ScheduleRow,
): void {
  if (why === null || principal.account === account) return
  throw new Fault('forbidden', `only ${account_name} may resume it: ${why}`, {
    hint: 'delete it and create your own schedule, which acts on your behalf',
  })
}

const pauseRoute = (
  name: string,
  path: typeof at.pauseSchedule | typeof at.resumeSchedule,
  paused: boolean,
  doc: string,
) =>
  route({
    name,
    method: 'POST',
    path,
    permission: 'workflow:run',
    doc,
    answers: { 200: 'schedule' },
    async handle(context, { params, principal }) {
      authorizeOwn(principal, params.schedule.account)
      requireOwner(principal, params.schedule)
      const row = await context.as(principal, async (tx) => {
        const changed = await pauseSchedule(tx, params.schedule, paused)
        await context.runs.schedules.pause(changed.id, paused)
        return changed
      })
      return { status: 200, body: scheduleDocument(row, new WorkflowHrefs(context.base)) }
    },
  })

export const schedules = [
  route({
    name: 'listSchedules',
    method: 'GET',
    path: at.schedules,
    permission: 'workflow:read',
    answers: { 200: 'schedules' },
    doc: 'Lists schedules.',
    async handle(context, { principal }) {
      const rows = await context.as(principal, (tx) => listSchedules(tx))
      return { status: 200, body: schedulesDocument(rows, new WorkflowHrefs(context.base)) }
    },
  }),
  route({
    name: 'createSchedule',
    method: 'POST',
    path: at.schedules,
    permission: 'workflow:run',
    takes: schedule,
    answers: { 201: 'schedule' },
    doc: 'Creates a schedule: workflow (its id), name, cron or every-seconds, time-zone (default: UTC), overlap (default: skip), paused, and parameters. Its runs have the current rights of the user who created it.',
    async handle(context, caller) {
      const { principal, body } = caller
      const workflow = await context.as(principal, (tx) =>
        workflowFinders.workflow(tx, body.workflow ?? '', { principal, found: {} }),
      )
      authorize(principal, 'workflow:run', workflow)
      if (!workflow) throw new Fault('not-found', 'not found, or you have no access')
      return answerCreated(context, await create(context, caller, workflow, body))
    },
  }),
  route({
    name: 'listTasks',
    method: 'GET',
    path: at.tasks,
    permission: 'workflow:read',
    answers: { 200: 'schedules' },
    doc: 'Lists the schedules of this workflow.',
    async handle(context, { params, principal }) {
      const rows = await context.as(principal, (tx) => listSchedules(tx, params.workflow))
      return { status: 200, body: schedulesDocument(rows, new WorkflowHrefs(context.base)) }
    },
  }),
  route({
    name: 'createTask',
    method: 'POST',
    path: at.tasks,
    permission: 'workflow:run',
    takes: schedule,
    answers: { 201: 'schedule' },
    doc: `Same as POST ${at.schedules}, for this workflow.`,
    async handle(context, caller) {
      return answerCreated(
        context,
        await create(context, caller, caller.params.workflow, caller.body),
      )
    },
  }),
  route({
    name: 'readSchedule',
    method: 'GET',
    path: at.schedule,
    permission: 'workflow:read',
    answers: { 200: 'schedule' },
    doc: 'Returns a schedule.',
    async handle(context, { params }) {
      return {
        status: 200,
        body: scheduleDocument(params.schedule, new WorkflowHrefs(context.base)),
      }
    },
  }),
  pauseRoute(
    'pauseSchedule',
    at.pauseSchedule,
    true,
    'Pauses a schedule; it starts no runs until it is resumed.',
  ),
  pauseRoute(
    'resumeSchedule',
    at.resumeSchedule,
    false,
    'Resumes a schedule from its next time; missed runs are not caught up.',
  ),
  route({
    name: 'deleteSchedule',
    method: 'DELETE',
    path: at.schedule,
    permission: 'workflow:run',
    answers: { 204: 'nothing' },
    doc: 'Deletes one of your schedules; an administrator can delete any schedule. Runs in progress continue.',
    async handle(context, { params, principal }) {
      authorizeOwn(principal, params.schedule.account)
      await context.as(principal, async (tx) => {
        await deleteSchedule(tx, params.schedule)
        await context.runs.schedules.delete(params.schedule.id)
      })
      await tryToEndSchedule(context, principal, params.schedule.id)
      return { status: 204 }
    },
  }),
]
