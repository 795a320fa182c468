import { Fault } from '@skerry/fault'
import type { Body } from '@skerry/service'
import { attribute, children, localName, readXml, text } from '@skerry/xml'
import { Type, type Static } from 'typebox'
import { Compile } from 'typebox/compile'

import { at, Hrefs } from '../addresses.ts'
import { fieldsOf } from '../definition/inputs.ts'
import { scheduleDocument, schedulesDocument } from '../documents/schedule.ts'
import type { Asker } from '../http/asker.ts'
import { things } from '../http/things.ts'
import { authorize, authorizeOwn } from '../identity/rights.ts'
import { route } from '../route.ts'
import { checkGiven } from '../start-execution.ts'
import { overlaps } from '../store/database.ts'
import {
  addSchedule,
  deleteSchedule,
  listSchedules,
  pauseSchedule,
  type NewSchedule,
  type ScheduleRow,
} from '../store/schedules.ts'
import { readVersion, type FoundWorkflow } from '../store/workflows.ts'
import { readContext, type Context } from '../values/read.ts'
import type { RequestWorld } from '../world.ts'

const SECONDS_LEAST = 10
const SECONDS_MOST = 366 * 24 * 3600

const Asked = Type.Object({
  workflow: Type.Optional(Type.String()),
  name: Type.String({ minLength: 1, maxLength: 255, pattern: '^\\P{Cc}+$' }),
  cron: Type.Optional(Type.String({ maxLength: 255, pattern: '^\\S+( \\S+){4,6}$' })),
  'every-seconds': Type.Optional(Type.Integer({ minimum: SECONDS_LEAST, maximum: SECONDS_MOST })),
  'time-zone': Type.Optional(Type.String({ maxLength: 64 })),
  overlap: Type.Optional(Type.Enum([...overlaps])),
  paused: Type.Optional(Type.Boolean()),
})
const compiled = Compile(Asked)

interface NewAsked extends Static<typeof Asked> {
  readonly context: Context
}

/** Name, when, in which time zone, and the parameters of an execution-context beside. */
const schedule: Body<NewAsked> = {
  media: 'application/xml or application/json',
  shape: 'schedule',
  read(raw) {
    const { context, ...fields } = raw.trim().startsWith('<') ? fromXml(raw) : fromJson(raw)
    if (!compiled.Check(fields)) {
      const [first] = compiled.Errors(fields)
      const where = first?.instancePath.slice(1) || 'a schedule'
      throw new Fault('invalid', `${where} ${first?.message ?? 'is wrong'}`)
    }
    return { ...fields, context }
  },
}

function fromXml(raw: string): { readonly context: Context } {
  const root = readXml(raw)
  const inside = children(root)
  const fields = inside
    .filter((each) => localName(each.name) !== 'parameters')
    .map((each) => [localName(each.name), plain(text(each) ?? '')])
  const parameters = inside.filter((each) => localName(each.name) === 'parameters')
  const name = attribute(root, 'name')
  return {
    ...(name !== undefined && { name }),
    ...Object.fromEntries(fields),
    context: readContext({ name: 'execution-context', attributes: {}, children: parameters }),
  }
}

/** XML has only text. */
const plain = (value: string): string | number | boolean => {
  if (/^[0-9]{1,9}$/.test(value)) return Number(value)
  return value === 'true' || value === 'false' ? value === 'true' : value
}

function fromJson(raw: string): { readonly context: Context } {
  let given: unknown
  try {
    given = JSON.parse(raw)
  } catch (cause) {
    throw new Fault('invalid', 'the body must be a schedule, in XML or JSON', { cause })
  }
  if (typeof given !== 'object' || given === null) {
    throw new Fault('invalid', 'a schedule is an object')
  }
  const { parameters, input, ...fields } = given as Readonly<Record<string, unknown>>
  const context = readContext(JSON.stringify({ parameters, input }))
  return { ...fields, context }
}

/** Exactly one of both, and a time zone that there is. */
function timesOf({ cron, 'every-seconds': everySeconds, 'time-zone': zone = 'UTC' }: NewAsked) {
  if ((cron === undefined) === (everySeconds === undefined)) {
    throw new Fault('invalid', 'a schedule has either cron or every-seconds', {
      hint: 'cron is minute, hour, day of the month, month, day of the week: 0 3 * * *',
    })
  }
  if (!isTimeZone(zone)) {
    throw new Fault('invalid', `there is no time zone ${zone}`, {
      hint: 'name it as Europe/Berlin or UTC',
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

/** A secret would have to be kept for as long as the schedule is. */
function refuseSecrets(form: Parameters<typeof fieldsOf>[0]): void {
  const secret = fieldsOf(form).find((each) => each.secret)
  if (!secret) return
  throw new Fault('invalid', `${secret.name} is secret, and a schedule keeps no secrets`, {
    hint: 'let the workflow get by without it, or start it by hand',
  })
}

async function create(
  world: RequestWorld,
  { who }: Asker,
  workflow: FoundWorkflow,
  body: NewAsked,
): Promise<ScheduleRow> {
  const times = timesOf(body)
  const { form } = await world.as(who, (tx) => readVersion(tx, workflow))
  refuseSecrets(form ?? undefined)
  const input = checkGiven(form, body.context)
  const grant = await world.grants.ask({
    ...{ org: workflow.org, account: who.account, kind: 'schedule' },
  })
  const made: NewSchedule = {
    ...{ org: workflow.org, id: world.uuid(), workflow: workflow.id, name: body.name, grant },
    ...{ account: who.account, accountName: who.user, ...times, input },
    ...{ overlap: body.overlap ?? 'skip', paused: body.paused ?? false },
  }
  try {
    return await world.as(who, async (tx) => {
      const row = await addSchedule(tx, made)
      // Inside of the transaction: what Temporal does not know is not written down.
      await world.runs.schedules.create(row)
      return row
    })
  } catch (error) {
    await world.grants.end(grant).catch(() => undefined)
    throw error
  }
}

async function answerCreated(world: RequestWorld, row: ScheduleRow) {
  const hrefs = new Hrefs(world.base)
  return {
    status: 201,
    headers: { location: hrefs.schedule(row.id) },
    body: scheduleDocument(row, hrefs),
  }
}

const turning = (
  name: string,
  path: typeof at.pauseSchedule | typeof at.resumeSchedule,
  paused: boolean,
  doc: string,
) =>
  route({
    ...{ name, method: 'POST', path, permission: 'workflow:run', doc },
    answers: { 200: 'schedule' },
    async handle(world, { params, who }) {
      authorizeOwn(who, params.schedule.account)
      const row = await world.as(who, async (tx) => {
        const changed = await pauseSchedule(tx, params.schedule, paused)
        await world.runs.schedules.pause(changed.id, paused)
        return changed
      })
      return { status: 200, body: scheduleDocument(row, new Hrefs(world.base)) }
    },
  })

export const schedules = [
  route({
    name: 'listSchedules',
    method: 'GET',
    path: at.schedules,
    permission: 'workflow:read',
    answers: { 200: 'schedules' },
    doc: 'What is run by itself, and when.',
    async handle(world, { who }) {
      const rows = await world.as(who, (tx) => listSchedules(tx))
      return { status: 200, body: schedulesDocument(rows, new Hrefs(world.base)) }
    },
  }),
  route({
    name: 'createSchedule',
    method: 'POST',
    path: at.schedules,
    permission: 'workflow:run',
    takes: schedule,
    answers: { 201: 'schedule' },
    doc: 'Runs a workflow by itself: workflow (its id), name, cron or every-seconds, time-zone (UTC unless told), overlap (skip unless told), paused, and parameters. It runs with the rights of whoever made it, as they are at that time.',
    async handle(world, asker) {
      const { who, body } = asker
      const workflow = await world.as(who, (tx) =>
        things.workflow(tx, body.workflow ?? '', { who, found: {} }),
      )
      authorize(who, 'workflow:run', workflow)
      if (!workflow) throw new Fault('not-found', 'there is no such thing, or it is not yours')
      return answerCreated(world, await create(world, asker, workflow, body))
    },
  }),
  route({
    name: 'listTasks',
    method: 'GET',
    path: at.tasks,
    permission: 'workflow:read',
    answers: { 200: 'schedules' },
    doc: 'The schedules of this workflow.',
    async handle(world, { params, who }) {
      const rows = await world.as(who, (tx) => listSchedules(tx, params.workflow))
      return { status: 200, body: schedulesDocument(rows, new Hrefs(world.base)) }
    },
  }),
  route({
    name: 'createTask',
    method: 'POST',
    path: at.tasks,
    permission: 'workflow:run',
    takes: schedule,
    answers: { 201: 'schedule' },
    doc: `As POST ${at.schedules}, of this workflow.`,
    async handle(world, asker) {
      return answerCreated(world, await create(world, asker, asker.params.workflow, asker.body))
    },
  }),
  route({
    name: 'readSchedule',
    method: 'GET',
    path: at.schedule,
    permission: 'workflow:read',
    answers: { 200: 'schedule' },
    doc: 'One schedule.',
    async handle(world, { params }) {
      return { status: 200, body: scheduleDocument(params.schedule, new Hrefs(world.base)) }
    },
  }),
  turning('pauseSchedule', at.pauseSchedule, true, 'Nothing is run until it is resumed.'),
  turning(
    'resumeSchedule',
    at.resumeSchedule,
    false,
    'Goes on with the next time; what was missed is not made up for.',
  ),
  route({
    name: 'deleteSchedule',
    method: 'DELETE',
    path: at.schedule,
    permission: 'workflow:run',
    answers: { 204: 'nothing' },
    doc: 'Ends a schedule of one’s own, or anybody’s for an administrator. A run that goes on goes on.',
    async handle(world, { params, who }) {
      authorizeOwn(who, params.schedule.account)
      await world.as(who, async (tx) => {
        await deleteSchedule(tx, params.schedule)
        await world.runs.schedules.delete(params.schedule.id)
      })
      await world.grants.end(params.schedule.grant_id).catch(() => undefined)
      return { status: 204 }
    },
  }),
]
