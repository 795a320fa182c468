import { readFile, writeFile } from 'node:fs/promises'
import { basename } from 'node:path'

import { printable, renderTable, type TableColumn } from '@skerry/command-line'

import { command } from '../../command.ts'
import { Failure } from '../../terminal/failure.ts'
import { accessOptions, workflowClient } from '../../workflow/workflow-client.ts'
import {
  containing,
  listWorkflows,
  workflowNamed,
  type WorkflowEntry,
} from '../../workflow/workflow-named.ts'

const columns: readonly TableColumn<WorkflowEntry>[] = [
  { head: 'NAME', cell: ({ name }) => name },
  { head: 'VERSION', cell: ({ version }) => version },
  { head: 'FOLDER', cell: ({ categoryName }) => categoryName },
  { head: 'ID', cell: ({ id }) => id },
]

interface WorkflowInfo {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly version: string
  readonly category: string
  readonly owner: string
  readonly 'input-parameters': readonly Input[]
}

interface Input {
  readonly name: string
  readonly type: string
  readonly description?: string
}

const inputColumns: readonly TableColumn<Input>[] = [
  { head: 'INPUT', cell: ({ name }) => name },
  { head: 'TYPE', cell: ({ type }) => type },
  { head: 'DESCRIPTION', cell: ({ description = '' }) => description },
]

interface Report {
  readonly result: string
  readonly id?: string
  readonly name?: string
  readonly version?: string
  readonly category?: string
  readonly complaints: readonly {
    readonly line?: number
    readonly column?: number
    readonly at?: string
    readonly message: string
  }[]
}

/** The file name that the server sends, without directories. */
function fileNameIn(disposition: string): string {
  const coded = /filename\*=UTF-8''([^;]+)/i.exec(disposition)?.[1]
  const plain = /filename="([^"]+)"/.exec(disposition)?.[1] ?? 'exported.workflow'
  return basename(coded === undefined ? plain : decodeURIComponent(coded)).replace(/^\.+/, '_')
}

export const workflow = [
  command({
    name: 'workflow list',
    usage: '',
    summary: 'list the workflows that you have access to',
    examples: [
      'skerry workflow list',
      'skerry workflow list --name snapshot --server https://workflow.example:8281 --user alice@blue',
    ],
    next: 'skerry workflow info WORKFLOW shows its description and inputs',
    options: {
      ...accessOptions,
      name: { type: 'string', doc: 'only workflows whose name contains this text' },
    },
    async run(context, { options, json }) {
      const client = await workflowClient(context, options)
      const condition = options.name === undefined ? '' : containing(options.name)
      const rows = await listWorkflows(client, condition)
      if (json) return context.print(JSON.stringify(rows, null, 2))
      context.print(renderTable(columns, rows, context.colours))
      if (rows.length === 0)
        context.complain('no workflows yet; import one: skerry workflow import FILE')
    },
  }),
  command({
    name: 'workflow info',
    usage: 'WORKFLOW',
    summary: 'show the description and the inputs of a workflow',
    examples: ["skerry workflow info 'Nightly snapshot' --user alice@blue"],
    next: 'skerry workflow run WORKFLOW --input NAME=VALUE',
    options: accessOptions,
    async run(context, { words: [word = ''], options, json }) {
      const client = await workflowClient(context, options)
      const id = await workflowNamed(client, word)
      const shown = (await client.json('GET', `/api/workflows/${id}`)) as WorkflowInfo
      if (json) return context.print(JSON.stringify(shown, null, 2))
      const { name, version, category, owner, description } = shown
      context.print(printable(`${name}, version ${version}, in ${category}, by ${owner}`))
      if (description !== '') context.print(printable(description))
      const inputs = shown['input-parameters']
      if (inputs.length > 0) context.print(renderTable(inputColumns, inputs, context.colours))
      else context.print('no inputs')
    },
  }),
  command({
    name: 'workflow export',
    usage: 'WORKFLOW',
    summary: 'export a workflow to a file that any workflow server can import',
    examples: [
      "skerry workflow export 'Nightly snapshot' --user alice@blue",
      'skerry workflow export 7c1c2a6e-6c2f-4c53-9a3e-0b7f7d2f9b11 --out nightly.workflow --user alice@blue',
    ],
    next: 'skerry workflow import FILE, on another server',
    options: {
      ...accessOptions,
      out: { type: 'string', value: 'FILE', doc: 'output file (default: NAME.workflow)' },
      force: { type: 'boolean', doc: 'overwrite an existing file' },
    },
    async run(context, { words: [word = ''], options, json }) {
      const client = await workflowClient(context, options)
      const id = await workflowNamed(client, word)
      const { bytes, headers } = await client.send('GET', `/api/workflows/${id}`, {
        accept: 'application/zip',
      })
      const file = options.out ?? fileNameIn(String(headers['content-disposition']))
      const flag = options.force === true ? 'w' : 'wx'
      await writeFile(file, bytes, { flag }).catch((cause: unknown) => {
        throw new Failure('refused', `${file} cannot be written`, {
          cause,
          hint: 'if it exists already, --force overwrites it',
        })
      })
      context.print(json ? JSON.stringify({ file, id }, null, 2) : `saved as ${printable(file)}`)
    },
  }),
  command({
    name: 'workflow import',
    usage: 'FILE',
    summary: 'import a workflow: an exported file, or a definition in YAML or JSON',
    examples: [
      'skerry workflow import nightly.yaml --dry-run --user alice@blue',
      'skerry workflow import nightly.yaml --overwrite --user alice@blue',
    ],
    next: 'skerry workflow run WORKFLOW',
    options: {
      ...accessOptions,
      folder: { type: 'string', value: 'ID', doc: 'id of the target folder' },
      overwrite: { type: 'boolean', doc: 'add it as the new version of an existing workflow' },
      'dry-run': { type: 'boolean', doc: 'only validate, and print what would be done' },
    },
    async run(context, { words: [file = ''], options, json }) {
      const body = await readFile(file).catch((cause: unknown) => {
        throw new Failure('refused', `${file} cannot be read`, { cause })
      })
      const client = await workflowClient(context, options)
      const query = new URLSearchParams({
        overwrite: String(options.overwrite === true),
        dryRun: String(options['dry-run'] === true),
        ...(options.folder !== undefined && { categoryId: options.folder }),
      })
      const report = await importReport(() =>
        client.json('POST', `/api/workflows?${query.toString()}`, {
          body,
          headers: { 'content-type': 'application/octet-stream' },
        }),
      )
      if (json) context.print(JSON.stringify(report, null, 2))
      for (const { line, column, at, message } of report.complaints) {
        const where = line === undefined ? (at ?? '') : `${line}:${column ?? 1}`
        context.complain(printable(`${file}:${where} ${message}`))
      }
      if (report.result === 'refused') return 1
      if (json) return 0
      const { result, name = '', version = '', category = '' } = report
      const dry = options['dry-run'] === true ? ' would be' : ' is'
      context.print(printable(`${name} ${version}${dry} ${result} in ${category}`))
      return 0
    },
  }),
]

/** A rejection with complaints per line is a report too. */
async function importReport(ask: () => Promise<unknown>): Promise<Report> {
  try {
    return (await ask()) as Report
  } catch (error) {
    const body = error instanceof Failure ? (error.body as Partial<Report> | undefined) : undefined
    if (!Array.isArray(body?.complaints)) throw error
    return body as Report
  }
}
