import { printable, renderTable, type TableColumn } from '@skerry/command-line'

import { command, type CliContext } from '../../command.ts'
import { Failure } from '../../terminal/failure.ts'
import {
  accessOptions,
  workflowClient,
  type WorkflowClient,
} from '../../workflow/workflow-client.ts'
import { executionNamed, readInputs, workflowNamed } from '../../workflow/workflow-named.ts'

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

const scheduleColumns: readonly TableColumn<Schedule>[] = [
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
  doc: 'input of the workflow; NAME=@FILE reads the value from a file; repeatable',
} as const

const formOf = async (client: WorkflowClient, id: string): Promise<object> => {
  const shown = await client.json('GET', `/api/workflows/${id}/presentation`)
  return (shown as { readonly form: object }).form
}

const asBody = (value: unknown) => ({
  body: JSON.stringify(value),
  headers: { 'content-type': 'application/json' },
})

/** Prints each step as it changes, until the run ends. */
async function follow(
  context: CliContext,
  client: WorkflowClient,
  path: string,
): Promise<Execution> {
  let printed = ''
  for (;;) {
    const now = (await client.json('GET', path)) as Execution
    const line = `${now.state} ${now['current-item-display-name'] ?? ''}`.trim()
    if (line !== printed) context.complain(printable(line))
    printed = line
    if (ended.has(now.state)) return now
    await context.wait(LOOK_AGAIN_MS)
  }
}

export const workflowRuns = [
  command({
    name: 'workflow run',
    usage: 'WORKFLOW',
    summary: 'run a workflow; --wait waits until it ends',
    examples: [
      "skerry workflow run 'Nightly snapshot' --input vapp=web --user alice@blue",
      "skerry workflow run 'Rolling restart' --input vapp=web --wait --user alice@blue",
    ],
    next: 'skerry workflow logs WORKFLOW shows its log',
    exits: '1 also if --wait is given and the run fails or is canceled',
    options: {
      ...accessOptions,
      input,
      wait: { type: 'boolean', doc: 'wait until the run ends and print its steps' },
      key: { type: 'string', doc: 'idempotency key: a repeated key returns the same run' },
    },
    async run(context, { words: [word = ''], options, json }) {
      const client = await workflowClient(context, options)
      const id = await workflowNamed(client, word)
      const given = await readInputs(options.input, await formOf(client, id))
      const sent = asBody({ input: given })
      const key = options.key === undefined ? {} : { 'idempotency-key': options.key }
      const started = (await client.json('POST', `/api/workflows/${id}/executions`, {
        ...sent,
        headers: { ...sent.headers, ...key },
      })) as Execution
      if (options.wait !== true) {
        context.print(json ? JSON.stringify(started, null, 2) : started.id)
        return 0
      }
      const path = `/api/workflows/${id}/executions/${started.id}`
      const last = await follow(context, client, path)
      if (json) context.print(JSON.stringify(last, null, 2))
      else context.print(`${last.id} ${last.state}`)
      if (last.state === 'completed') return 0
      if (last['content-exception'] !== undefined) {
        context.complain(printable(last['content-exception']))
      }
      return 1
    },
  }),
  command({
    name: 'workflow logs',
    usage: 'WORKFLOW [EXECUTION]',
    summary: 'print the log of a run, oldest first (default: the newest run)',
    examples: ["skerry workflow logs 'Nightly snapshot' --user alice@blue"],
    next: 'skerry workflow answer WORKFLOW if it waits for input',
    options: accessOptions,
    async run(context, { words: [word = '', named], options, json }) {
      const client = await workflowClient(context, options)
      const id = await workflowNamed(client, word)
      const execution = await executionNamed(client, id, named)
      const path = `/api/workflows/${id}/executions/${encodeURIComponent(execution)}/logs`
      const { logs } = (await client.json('GET', path)) as Logs
      if (json)
        return context.print(
          JSON.stringify(
            logs.map(({ entry }) => entry),
            null,
            2,
          ),
        )
      for (const { entry } of logs) {
        const said = [entry['time-stamp'], entry['severity'], entry['short-description']]
        const detail = String(entry['long-description'] ?? '')
        context.print(printable(`${said.join(' ')}${detail === '' ? '' : `: ${detail}`}`))
      }
    },
  }),
  command({
    name: 'workflow answer',
    usage: 'WORKFLOW [EXECUTION]',
    summary: 'answer the question that a run waits for (default: the newest run)',
    examples: ["skerry workflow answer 'Rolling restart' --input goOn=true --user alice@blue"],
    next: 'skerry workflow logs WORKFLOW shows its log',
    options: { ...accessOptions, input },
    async run(context, { words: [word = '', named], options, json }) {
      const client = await workflowClient(context, options)
      const id = await workflowNamed(client, word)
      const execution = await executionNamed(client, id, named)
      const path = `/api/workflows/${id}/executions/${encodeURIComponent(execution)}/interaction`
      const requested = (await client.json('GET', path)) as {
        readonly name: string
        readonly 'input-parameters': readonly { readonly name: string; readonly type: string }[]
      }
      const types = requested['input-parameters'].map(({ name, type }) => [
        name,
        { type: plain(type) },
      ])
      const form = { properties: Object.fromEntries(types) as Record<string, { type: string }> }
      const answer = await readInputs(options.input, form)
      await client.send('POST', path, asBody({ input: answer }))
      context.print(
        json
          ? JSON.stringify({ answered: requested.name }, null, 2)
          : `answered: ${printable(requested.name)}`,
      )
    },
  }),
  command({
    name: 'workflow schedule',
    usage: 'WORKFLOW',
    summary: 'schedule a workflow; without options, list its schedules',
    examples: [
      "skerry workflow schedule 'Nightly snapshot' --user alice@blue",
      "skerry workflow schedule 'Nightly snapshot' --cron '0 3 * * *' --time-zone Europe/Berlin --input vapp=web --user alice@blue",
      "skerry workflow schedule 'Nightly snapshot' --pause 7c1c2a6e-6c2f-4c53-9a3e-0b7f7d2f9b11 --user alice@blue",
    ],
    next: 'skerry workflow logs WORKFLOW shows the log of its last run',
    options: {
      ...accessOptions,
      cron: {
        type: 'string',
        value: 'TIMES',
        doc: 'cron expression: minute, hour, day, month, day of the week',
      },
      every: { type: 'string', value: 'SECONDS', doc: 'interval between starts' },
      'time-zone': {
        type: 'string',
        value: 'ZONE',
        doc: 'time zone of --cron, e.g. Europe/Berlin (default: UTC)',
      },
      overlap: {
        type: 'string',
        value: 'WORD',
        doc: 'if the last run is still running: skip, queue, queue-all, cancel-other or allow',
      },
      name: { type: 'string', doc: 'name of the schedule (default: scheduled)' },
      input,
      pause: { type: 'string', value: 'ID', doc: 'pause the schedule with this id' },
      resume: { type: 'string', value: 'ID', doc: 'resume the schedule with this id' },
      rm: { type: 'string', value: 'ID', doc: 'delete the schedule with this id' },
    },
    async run(context, { words: [word = ''], options, json }) {
      const client = await workflowClient(context, options)
      const id = await workflowNamed(client, word)
      const say = (body: unknown, text: string) =>
        context.print(json ? JSON.stringify(body, null, 2) : printable(text))
      const one = (schedule: string, rest = '') =>
        `/api/schedules/${encodeURIComponent(schedule)}${rest}`
      const { pause, resume, rm: gone, cron, every } = options
      if (pause !== undefined) {
        return say(await client.json('POST', one(pause, '/action/pause')), `${pause} is paused`)
      }
      if (resume !== undefined) {
        return say(await client.json('POST', one(resume, '/action/resume')), `${resume} is resumed`)
      }
      if (gone !== undefined) {
        await client.send('DELETE', one(gone))
        return say({ deleted: gone }, `${gone} is deleted`)
      }
      const path = `/api/workflows/${id}/tasks`
      if (cron === undefined && every === undefined) {
        const { schedule } = (await client.json('GET', path)) as { schedule: readonly Schedule[] }
        if (json) return context.print(JSON.stringify(schedule, null, 2))
        return context.print(renderTable(scheduleColumns, schedule, context.colours))
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

/** The JSON Schema type of a type name of the workflow API. */
const plain = (type: string): string => {
  if (type.startsWith('Array/')) return 'array'
  if (/^(Properties|CompositeType)/.test(type)) return 'object'
  return type === 'number' || type === 'boolean' ? type : 'string'
}
