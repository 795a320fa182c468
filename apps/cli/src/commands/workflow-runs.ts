import { command, type World } from '../command.ts'
import { Failure } from '../failure.ts'
import { printable, renderTable, type Column } from '../table.ts'
import { accessOptions, workflowClient, type WorkflowClient } from '../workflow-client.ts'
import { executionNamed, readInputs, workflowNamed } from '../workflow-named.ts'

const LOOK_AGAIN_MS = 1000
const ended = new Set(['completed', 'failed', 'canceled'])

interface Execution {
  readonly id: string
  readonly state: string
  readonly 'content-exception'?: string
  readonly 'current-item-display-name'?: string
}

interface Logs {
  readonly logs: readonly { readonly entry: Readonly<Record<string, string | number>> }[]
}

interface Schedule {
  readonly id: string
  readonly name: string
  readonly state: string
  readonly cron?: string
  readonly 'every-seconds'?: number
  readonly 'time-zone': string
  readonly overlap: string
}

const scheduleColumns: readonly Column<Schedule>[] = [
  { head: 'NAME', cell: ({ name }) => name },
  { head: 'WHEN', cell: (row) => row.cron ?? `every ${row['every-seconds']} s` },
  { head: 'TIME ZONE', cell: (row) => row['time-zone'] },
  { head: 'OVERLAP', cell: ({ overlap }) => overlap },
  { head: 'STATE', cell: ({ state }) => (state === 'suspended' ? 'paused' : 'on') },
  { head: 'ID', cell: ({ id }) => id },
]

const input = {
  type: 'string',
  value: 'NAME=VALUE',
  multiple: true,
  doc: 'one of its inputs; NAME=@FILE is what is in the file',
} as const

const formOf = async (client: WorkflowClient, id: string): Promise<object> => {
  const shown = await client.json('GET', `/api/workflows/${id}/presentation`)
  return (shown as { readonly form: object }).form
}

const asBody = (value: unknown) => ({
  ...{ body: JSON.stringify(value), headers: { 'content-type': 'application/json' } },
})

/** Tells each step as it changes, until the run has ended. */
async function follow(world: World, client: WorkflowClient, path: string): Promise<Execution> {
  let told = ''
  for (;;) {
    const now = (await client.json('GET', path)) as Execution
    const line = `${now.state} ${now['current-item-display-name'] ?? ''}`.trim()
    if (line !== told) world.complain(printable(line))
    told = line
    if (ended.has(now.state)) return now
    await world.wait(LOOK_AGAIN_MS)
  }
}

export const workflowRuns = [
  command({
    name: 'workflow run',
    usage: 'WORKFLOW',
    summary: 'start a workflow, and wait for its end if you like',
    examples: [
      "skerry workflow run 'Nightly snapshot' --input vapp=web --user alice@blue",
      "skerry workflow run 'Rolling restart' --input vapp=web --wait --user alice@blue",
    ],
    next: 'skerry workflow logs WORKFLOW tells what it did',
    exits: 'with --wait 1 too when the run ends otherwise than completed',
    options: {
      ...accessOptions,
      input,
      wait: { type: 'boolean', doc: 'wait for the end, and tell its steps' },
      key: { type: 'string', doc: 'the same key again is the same run' },
    },
    async run(world, { words: [word = ''], options, json }) {
      const client = await workflowClient(world, options)
      const id = await workflowNamed(client, word)
      const given = await readInputs(options.input, await formOf(client, id))
      const sent = asBody({ input: given })
      const key = options.key === undefined ? {} : { 'idempotency-key': options.key }
      const started = (await client.json('POST', `/api/workflows/${id}/executions`, {
        ...{ ...sent, headers: { ...sent.headers, ...key } },
      })) as Execution
      if (options.wait !== true) {
        world.print(json ? JSON.stringify(started, null, 2) : started.id)
        return 0
      }
      const path = `/api/workflows/${id}/executions/${started.id}`
      const last = await follow(world, client, path)
      if (json) world.print(JSON.stringify(last, null, 2))
      else world.print(`${last.id} ${last.state}`)
      if (last.state === 'completed') return 0
      if (last['content-exception'] !== undefined) {
        world.complain(printable(last['content-exception']))
      }
      return 1
    },
  }),
  command({
    name: 'workflow logs',
    usage: 'WORKFLOW [EXECUTION]',
    summary: 'what a run did, oldest first; the newest run unless told',
    examples: ["skerry workflow logs 'Nightly snapshot' --user alice@blue"],
    next: 'skerry workflow answer WORKFLOW, where it waits for somebody',
    options: accessOptions,
    async run(world, { words: [word = '', named], options, json }) {
      const client = await workflowClient(world, options)
      const id = await workflowNamed(client, word)
      const execution = await executionNamed(client, id, named)
      const path = `/api/workflows/${id}/executions/${encodeURIComponent(execution)}/logs`
      const { logs } = (await client.json('GET', path)) as Logs
      if (json)
        return world.print(
          JSON.stringify(
            logs.map(({ entry }) => entry),
            null,
            2,
          ),
        )
      for (const { entry } of logs) {
        const said = [entry['time-stamp'], entry['severity'], entry['short-description']]
        const detail = String(entry['long-description'] ?? '')
        world.print(printable(`${said.join(' ')}${detail === '' ? '' : `: ${detail}`}`))
      }
    },
  }),
  command({
    name: 'workflow answer',
    usage: 'WORKFLOW [EXECUTION]',
    summary: 'answer what a run waits for; the newest run unless told',
    examples: ["skerry workflow answer 'Rolling restart' --input goOn=true --user alice@blue"],
    next: 'skerry workflow logs WORKFLOW tells how it goes on',
    options: { ...accessOptions, input },
    async run(world, { words: [word = '', named], options, json }) {
      const client = await workflowClient(world, options)
      const id = await workflowNamed(client, word)
      const execution = await executionNamed(client, id, named)
      const path = `/api/workflows/${id}/executions/${encodeURIComponent(execution)}/interaction`
      const asked = (await client.json('GET', path)) as {
        readonly name: string
        readonly 'input-parameters': readonly { readonly name: string; readonly type: string }[]
      }
      const types = asked['input-parameters'].map(({ name, type }) => [name, { type: plain(type) }])
      const form = { properties: Object.fromEntries(types) as Record<string, { type: string }> }
      const answer = await readInputs(options.input, form)
      await client.send('POST', path, asBody({ input: answer }))
      world.print(
        json
          ? JSON.stringify({ answered: asked.name }, null, 2)
          : `answered: ${printable(asked.name)}`,
      )
    },
  }),
  command({
    name: 'workflow schedule',
    usage: 'WORKFLOW',
    summary: 'run a workflow by itself; without a time, tell when it is',
    examples: [
      "skerry workflow schedule 'Nightly snapshot' --user alice@blue",
      "skerry workflow schedule 'Nightly snapshot' --cron '0 3 * * *' --time-zone Europe/Berlin --input vapp=web --user alice@blue",
      "skerry workflow schedule 'Nightly snapshot' --pause 7c1c2a6e-6c2f-4c53-9a3e-0b7f7d2f9b11 --user alice@blue",
    ],
    next: 'skerry workflow logs WORKFLOW tells what its last run did',
    options: {
      ...accessOptions,
      cron: { type: 'string', value: 'TIMES', doc: 'minute, hour, day, month, day of the week' },
      every: { type: 'string', value: 'SECONDS', doc: 'so long from one start to the next' },
      'time-zone': { type: 'string', value: 'ZONE', doc: 'as Europe/Berlin; UTC unless told' },
      overlap: {
        type: 'string',
        value: 'WORD',
        doc: 'while the last still runs: skip, queue, queue-all, cancel-other or allow',
      },
      name: { type: 'string', doc: 'what to call it; scheduled unless told' },
      input,
      pause: { type: 'string', value: 'ID', doc: 'nothing is run until it is resumed' },
      resume: { type: 'string', value: 'ID', doc: 'goes on with the next time' },
      delete: { type: 'string', value: 'ID', doc: 'ends a schedule' },
    },
    async run(world, { words: [word = ''], options, json }) {
      const client = await workflowClient(world, options)
      const id = await workflowNamed(client, word)
      const say = (body: unknown, text: string) =>
        world.print(json ? JSON.stringify(body, null, 2) : printable(text))
      const one = (schedule: string, rest = '') =>
        `/api/schedules/${encodeURIComponent(schedule)}${rest}`
      const { pause, resume, delete: gone, cron, every } = options
      if (pause !== undefined) {
        return say(await client.json('POST', one(pause, '/action/pause')), `${pause} is paused`)
      }
      if (resume !== undefined) {
        return say(await client.json('POST', one(resume, '/action/resume')), `${resume} goes on`)
      }
      if (gone !== undefined) {
        await client.send('DELETE', one(gone))
        return say({ deleted: gone }, `${gone} is deleted`)
      }
      const path = `/api/workflows/${id}/tasks`
      if (cron === undefined && every === undefined) {
        const { schedule } = (await client.json('GET', path)) as { schedule: readonly Schedule[] }
        if (json) return world.print(JSON.stringify(schedule, null, 2))
        return world.print(renderTable(scheduleColumns, schedule, world.colours))
      }
      if (every !== undefined && !/^[0-9]{1,9}$/.test(every)) {
        throw new Failure('usage', '--every must be a number of seconds')
      }
      const made = (await client.json(
        'POST',
        path,
        asBody({
          name: options.name ?? 'scheduled',
          ...(cron !== undefined && { cron }),
          ...(every !== undefined && { 'every-seconds': Number(every) }),
          ...(options['time-zone'] !== undefined && { 'time-zone': options['time-zone'] }),
          ...(options.overlap !== undefined && { overlap: options.overlap }),
          input: await readInputs(options.input, await formOf(client, id)),
        }),
      )) as Schedule
      return say(made, `${made.name} is scheduled as ${made.id}`)
    },
  }),
]

/** The family's words for types, as JSON Schema has them. */
const plain = (type: string): string => {
  if (type.startsWith('Array/')) return 'array'
  if (/^(Properties|CompositeType)/.test(type)) return 'object'
  return type === 'number' || type === 'boolean' ? type : 'string'
}
