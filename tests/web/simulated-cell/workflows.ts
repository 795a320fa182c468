// A small workflow API, as a cell passes it on at /api/workflow: three workflows, of which one asks a question and one takes a secret. Runs end after a moment.
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'

import { readBody, readText, sendJson } from './send.ts'
import { importReport } from './workflow-import.ts'

const GREET = '01980010-0000-7000-8000-000000000001'
const RESTART = '01980010-0000-7000-8000-000000000002'
const SET_PASSWORD = '01980010-0000-7000-8000-000000000003'
const STEP_MS = 400

const greetForm = {
  type: 'object',
  properties: {
    name: { type: 'string', title: 'Name', description: 'Whom to greet.', maxLength: 10 },
    times: { type: 'integer', title: 'Times', default: 1, minimum: 1, maximum: 5 },
    tone: { type: 'string', title: 'Tone', enum: ['friendly', 'formal'], default: 'friendly' },
    loud: { type: 'boolean', title: 'Loud' },
    day: { type: 'string', title: 'Day', format: 'date' },
    tags: { type: 'array', title: 'Tags', items: { type: 'string' } },
    place: {
      type: 'object',
      title: 'Place',
      properties: { city: { type: 'string', title: 'City' } },
    },
  },
  required: ['name'],
}
const passwordForm = {
  type: 'object',
  properties: {
    user: { type: 'string', title: 'User' },
    password: { type: 'string', title: 'New password', format: 'password' },
  },
}
const answerForm = {
  type: 'object',
  properties: { goOn: { type: 'boolean', title: 'Go on' }, note: { type: 'string' } },
}

interface SimulatedRun {
  readonly id: string
  readonly workflow: string
  readonly startedAt: string
  readonly input: Readonly<Record<string, unknown>>
  state: string
  endedAt?: string
}

interface SimulatedSchedule {
  readonly id: string
  readonly workflow: string
  readonly name: string
  readonly cron?: string | undefined
  readonly everySeconds?: number
  readonly zone: string
  isPaused: boolean
}

const workflows = [
  { id: GREET, name: 'Greet', description: 'Says hello to someone.', form: greetForm },
  { id: RESTART, name: 'Rolling restart', description: 'Asks before it goes on.', form: {} },
  { id: SET_PASSWORD, name: 'Set password', description: 'Of a user.', form: passwordForm },
] as const

const typed = (value: unknown): unknown =>
  Array.isArray(value)
    ? { array: { elements: value.map(typed) } }
    : typeof value === 'object' && value !== null
      ? {
          properties: {
            property: Object.entries(value).map(([key, each]) => ({ key, value: typed(each) })),
          },
        }
      : { [typeof value]: { value } }

const step = (name: string, kind: string, y: number, state: string | undefined) => ({
  place: `/do/0/${name}`,
  name,
  kind,
  detail: '',
  condition: '',
  ...(state !== undefined && { state }),
  x: 0,
  y,
  width: 200,
  height: 32,
  rows: [],
  leadsOn: true,
  ends: [],
  columns: [],
})

/** Everything of one simulated cell. */
export class SimulatedWorkflows {
  readonly runs = new Map<string, SimulatedRun>()
  readonly schedules = new Map<string, SimulatedSchedule>()
  readonly #listeners = new Set<() => void>()
  readonly #timers = new Set<NodeJS.Timeout>()

  constructor() {
    const id = '01980012-0000-7000-8000-000000000001'
    const zone = 'Europe/Berlin'
    this.schedules.set(id, {
      id,
      workflow: GREET,
      name: 'nightly',
      cron: '0 3 * * *',
      zone,
      isPaused: false,
    })
    const waiting = '01980011-0000-7000-8000-000000000001'
    const startedAt = new Date().toISOString()
    const state = 'waiting-signal'
    this.runs.set(waiting, { id: waiting, workflow: RESTART, startedAt, input: {}, state })
  }

  stop(): void {
    for (const timer of this.#timers) clearTimeout(timer)
  }

  /** Returns false where the address does not exist. */
  async handle(url: URL, request: IncomingMessage, response: ServerResponse): Promise<boolean> {
    const parts = url.pathname.replace(/^\/api\/workflow\//, '').split('/')
    const [kind, id = '', below, run = '', part] = parts
    const method = request.method ?? 'GET'
    if (kind === 'catalog') return sent(response, 200, this.#questions())
    if (kind === 'schedules') return this.#schedule(method, parts, request, response)
    if (kind !== 'workflows') return false
    const found = workflows.find((each) => each.id === id)
    if (id === '' && method === 'POST') {
      const isDryRun = url.searchParams.get('dryRun') === 'true'
      const report = importReport(await readText(request), isDryRun, GREET)
      return sent(response, report.result === 'refused' ? 400 : 200, report)
    }
    if (id === '') return sent(response, 200, this.#list(url))
    if (!found) return sent(response, 404, { status: 404, message: 'not found' })
    if (below === undefined) return sent(response, 200, workflowOf(found))
    if (below === 'presentation') return sent(response, 200, { name: found.name, form: found.form })
    if (below === 'schema') return sent(response, 200, this.#drawing(found))
    if (run === '' && method === 'POST') {
      const { input = {} } = (await readBody(request)) as { input?: Record<string, unknown> }
      return sent(response, 202, this.#runOf(this.#start(id, input)))
    }
    if (run === '') return sent(response, 200, this.#runsOf(id))
    return this.#answerRun(run, part, request, response)
  }

  async #answerRun(
    id: string,
    part: string | undefined,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<boolean> {
    const run = this.runs.get(id)
    if (!run) return sent(response, 404, { status: 404, message: 'not found' })
    const workflow = workflows.find((each) => each.id === run.workflow) ?? workflows[0]
    if (part === 'schema') return sent(response, 200, this.#drawing(workflow, run))
    if (part === 'logs') return sent(response, 200, logOf(run))
    if (part === 'events') return this.#follow(run, response)
    if (part === 'state') {
      this.#change(run, 'canceled')
      return sent(response, 204)
    }
    if (part === 'interaction' && request.method === 'POST') {
      this.#change(run, 'running')
      this.#later(() => this.#change(run, 'completed'))
      return sent(response, 204)
    }
    if (part === 'interaction') {
      const isOpen = run.state === 'waiting-signal'
      if (isOpen) return sent(response, 200, questionOf(run))
      return sent(response, 409, { status: 409, message: 'no question is open' })
    }
    if (request.method === 'DELETE') {
      this.runs.delete(id)
      return sent(response, 204)
    }
    return sent(response, 200, this.#runOf(run))
  }

  #start(workflow: string, input: Readonly<Record<string, unknown>>): SimulatedRun {
    const run: SimulatedRun = {
      id: randomUUID(),
      workflow,
      input,
      startedAt: new Date().toISOString(),
      state: 'running',
    }
    this.runs.set(run.id, run)
    const next = workflow === RESTART ? 'waiting-signal' : 'completed'
    this.#later(() => this.#change(run, next))
    return run
  }

  #later(work: () => void): void {
    this.#timers.add(setTimeout(work, STEP_MS))
  }

  #change(run: SimulatedRun, state: string): void {
    run.state = state
    if (hasEnded(run)) run.endedAt = new Date().toISOString()
    for (const listener of this.#listeners) listener()
  }

  #follow(run: SimulatedRun, response: ServerResponse): boolean {
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
    const send = (): void => {
      const data = JSON.stringify(this.#runOf(run))
      response.write(`id: 1\nevent: execution\ndata: ${data}\n\n`)
      response.write(`id: 1\nevent: interaction\ndata: {"id":null}\n\n`)
      if (hasEnded(run)) response.end()
    }
    this.#listeners.add(send)
    response.on('close', () => this.#listeners.delete(send))
    send()
    return true
  }

  #list(url: URL) {
    const wanted = (url.searchParams.get('conditions') ?? '').replace('name~', '').toLowerCase()
    const found = workflows.filter(({ name }) => name.toLowerCase().includes(wanted))
    const link = found.map(({ id, name, description }) => ({
      rel: 'down',
      href: id,
      attributes: attributes({ id, name, description, categoryName: 'Library', version: '1.0.0' }),
    }))
    return { link, total: found.length }
  }

  #runsOf(workflow: string) {
    const runs = [...this.runs.values()].filter((run) => run.workflow === workflow)
    const link = runs.toReversed().map((run) => ({
      rel: 'down',
      href: run.id,
      attributes: attributes({
        id: run.id,
        state: run.state,
        startedBy: 'alice',
        startDate: run.startedAt,
        ...(run.endedAt !== undefined && { endDate: run.endedAt }),
      }),
    }))
    return { total: runs.length, relations: { link } }
  }

  #runOf(run: SimulatedRun) {
    return {
      id: run.id,
      name: workflows.find(({ id }) => id === run.workflow)?.name,
      state: run.state,
      version: '1.0.0',
      'started-by': 'alice',
      'start-date': run.startedAt,
      ...(run.endedAt !== undefined && { 'end-date': run.endedAt }),
      'input-parameters': Object.entries(run.input).map(([name, value]) => ({
        name,
        type: typeof value,
        value: typed(value),
      })),
      'output-parameters':
        run.state === 'completed' ? [{ name: 'said', type: 'string', value: typed('hello') }] : [],
    }
  }

  #drawing({ name, id }: (typeof workflows)[number], run?: SimulatedRun) {
    const states: Readonly<Record<string, readonly string[]>> = {
      running: ['running'],
      'waiting-signal': ['done', 'running'],
      completed: ['done', 'done'],
    }
    const [first, second] = states[run?.state ?? ''] ?? []
    const names = id === RESTART ? (['prepare', 'ask'] as const) : (['prepare', 'greet'] as const)
    const steps = [step(names[0], 'set', 0, first), step(names[1], 'call', 66, second)]
    const size = { x: 0, y: 0, width: 200, height: 98, centre: 100 }
    return {
      title: name,
      summary: '',
      column: { ...size, role: 'list', caption: '', steps, jumps: [] },
    }
  }

  #questions() {
    const open = [...this.runs.values()].filter(({ state }) => state === 'waiting-signal')
    return { total: open.length, 'user-interaction': open.map(questionOf) }
  }

  async #schedule(
    method: string,
    [, id = '', , action]: readonly string[],
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<boolean> {
    if (id === '' && method === 'POST') {
      const {
        name = '',
        workflow = '',
        cron,
        'time-zone': zone = 'UTC',
        'every-seconds': seconds,
      } = (await readBody(request)) as Partial<Record<string, string>>
      const times = seconds === undefined ? { cron } : { everySeconds: Number(seconds) }
      const made = { id: randomUUID(), name, workflow, ...times, zone, isPaused: false }
      this.schedules.set(made.id, made)
      return sent(response, 201, scheduleOf(made))
    }
    if (id === '') {
      const schedule = [...this.schedules.values()].map(scheduleOf)
      return sent(response, 200, { total: schedule.length, schedule })
    }
    const found = this.schedules.get(id)
    if (!found) return false
    if (method === 'DELETE') {
      this.schedules.delete(id)
      return sent(response, 204)
    }
    found.isPaused = action === 'pause'
    return sent(response, 200, scheduleOf(found))
  }
}

const hasEnded = ({ state }: SimulatedRun): boolean => state === 'completed' || state === 'canceled'

const attributes = (values: Readonly<Record<string, string>>) =>
  Object.entries(values).map(([name, value]) => ({ name, value }))

const workflowOf = ({ id, name, description }: (typeof workflows)[number]) => ({
  id,
  name,
  description,
  version: '1.0.0',
  category: 'Library',
  owner: 'alice',
  'changed-at': '2026-01-31T12:00:00.000Z',
  relations: { link: [{ rel: 'add', href: id }] },
})

const questionOf = (run: SimulatedRun) => ({
  id: 'ask',
  name: 'Go on?',
  description: 'The first VM has restarted.',
  approver: 'anyone',
  state: 'waiting',
  workflow: 'Rolling restart',
  'workflow-id': run.workflow,
  execution: run.id,
  'create-date': run.startedAt,
  form: answerForm,
})

const logOf = (run: SimulatedRun) => ({
  logs: [
    {
      entry: {
        number: 1,
        'time-stamp': run.startedAt,
        severity: 'info',
        'short-description': 'prepare ended',
        'long-description': '',
        origin: '/do/0/prepare',
      },
    },
  ],
})

const scheduleOf = ({ id, workflow, name, zone, isPaused, ...times }: SimulatedSchedule) => ({
  id,
  name,
  workflow,
  cron: times.cron,
  'every-seconds': times.everySeconds,
  state: isPaused ? 'suspended' : 'pending',
  'time-zone': zone,
  overlap: 'skip',
  user: 'alice',
})

function sent(response: ServerResponse, status: number, body?: unknown): true {
  sendJson(response, status, body, { 'content-type': 'application/json; charset=utf-8' })
  return true
}
