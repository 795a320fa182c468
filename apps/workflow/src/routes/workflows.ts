import { createHash } from 'node:crypto'

import { Fault } from '@skerry/fault'
import { Type } from '@skerry/schema'
import {
  definitionOf,
  drawWorkflow,
  outlineWorkflow,
  type DefinitionDocument,
} from '@skerry/serverless-workflow'
import { element } from '@skerry/xml'

import { importWorkflow } from '../archive/import-workflow.ts'
import { writeArchive } from '../archive/write.ts'
import type { WorkflowRequestContext } from '../context.ts'
import { at, WorkflowHrefs } from '../documents/addresses.ts'
import { reportDocument } from '../documents/import-report.ts'
import {
  catalogDocument,
  permissionsDocument,
  versionsDocument,
  workflowDocument,
} from '../documents/workflow.ts'
import type { WorkflowCaller } from '../http/caller.ts'
import { attachment } from '../http/file-name.ts'
import { form as importForm, type Form } from '../http/multipart.ts'
import { workflowFinders } from '../http/path-workflows.ts'
import { withFormats, route, type WorkflowRoute } from '../http/route.ts'
import { renderJson } from '../http/send.ts'
import { media } from '../http/wants.ts'
import { authorizeOwn, notFound } from '../identity/rights.ts'
import { tryToEndSchedule } from '../runs/end-schedule.ts'
import type { CategoryRow } from '../store/categories.ts'
import { markCanceled } from '../store/executions.ts'
import { deleteSchedule } from '../store/schedules.ts'
import {
  deleteWorkflow,
  inUse,
  listVersions,
  readVersion,
  type FoundWorkflow,
  type VersionRow,
} from '../store/workflows.ts'

const current = (
  context: WorkflowRequestContext,
  { principal }: WorkflowCaller,
  workflow: FoundWorkflow,
) => context.as(principal, (tx) => readVersion(tx, workflow))

/** Exports of the same workflow are byte-identical. */
async function exported(workflow: FoundWorkflow, version: VersionRow, ifNoneMatch?: string) {
  const { id, name, description, path, tags } = workflow
  const { version: called, text, form } = version
  const bytes = await writeArchive({
    id,
    name,
    description,
    folder: path,
    version: called,
    tags,
    text,
    form: form ?? undefined,
  })
  const etag = `"${createHash('sha256').update(bytes).digest('hex')}"`
  const headers = {
    etag,
    'cache-control': 'private, no-cache',
    'content-disposition': attachment(name, '.workflow'),
  }
  const known = (ifNoneMatch ?? '').split(',').map((each) => each.trim().replace(/^W\//, ''))
  if (known.includes(etag) || known.includes('*')) return { status: 304, headers }
  return { status: 200, headers: { ...headers, 'content-type': media.zip }, body: bytes }
}

const flag = Type.Optional(Type.String({ pattern: '^(true|false)$' }))
const importQuery = Type.Object({
  categoryId: Type.Optional(Type.String()),
  overwrite: flag,
  dryRun: flag,
})

type ImportParameters = Readonly<Partial<Record<'categoryId' | 'overwrite' | 'dryRun', string>>>

async function takeImport(
  context: WorkflowRequestContext,
  { principal }: WorkflowCaller,
  { fields, file }: Form,
  requested: ImportParameters,
  named?: CategoryRow,
) {
  if (!file) {
    throw new Fault(
      'invalid',
      'no file was sent: the part `file` must contain the archive or definition',
      {
        hint: 'curl -F file=@NAME.workflow',
      },
    )
  }
  const one = (name: keyof ImportParameters) => requested[name] ?? fields.get(name)
  const id = one('categoryId')
  const category =
    id === undefined || id === ''
      ? named
      : await context.as(principal, (tx) =>
          workflowFinders.category(tx, id, { principal, found: {} }),
        )
  if (id !== undefined && id !== '' && !category) throw notFound()
  const report = await importWorkflow(context, principal, {
    bytes: file.bytes,
    category,
    overwrite: one('overwrite') === 'true',
    dryRun: one('dryRun') === 'true',
  })
  const hrefs = new WorkflowHrefs(context.base)
  const body = reportDocument(report, hrefs)
  if (report.result === 'refused') return { status: 400, body }
  return { status: 200, headers: { location: hrefs.workflow(report.id ?? '') }, body }
}

export const workflows: readonly WorkflowRoute[] = [
  withFormats(
    ['xml', 'json', 'zip'],
    route({
      name: 'readWorkflow',
      method: 'GET',
      path: at.workflow,
      permission: 'workflow:read',
      answers: { 200: 'workflow', 304: 'nothing' },
      doc: 'Returns a workflow. With Accept: application/zip it returns the archive, to be saved as NAME.workflow. Archives of the same workflow are byte-identical; use ETag with If-None-Match to skip the download.',
      async handle(context, caller) {
        const { workflow } = caller.params
        const version = await current(context, caller, workflow)
        if (caller.format === 'zip') return exported(workflow, version, caller.ifNoneMatch)
        const sees = { principal: caller.principal, hrefs: new WorkflowHrefs(context.base) }
        return { status: 200, body: workflowDocument(workflow, version, sees) }
      },
    }),
  ),
  route({
    name: 'importWorkflow',
    method: 'POST',
    path: at.workflows,
    permission: 'workflow:edit',
    query: importQuery,
    takes: importForm,
    answers: { 200: 'import-report', 400: 'import-report' },
    doc: 'Imports an archive, or a definition in YAML or JSON: multipart/form-data with the part file, or the bytes as the whole body. categoryId is the target folder, overwrite=true makes it the current version of an existing workflow with the same id, dryRun=true only reports what would happen; each can also be a form part. The report lists all errors with their lines.',
    async handle(context, caller) {
      return takeImport(context, caller, await caller.body, caller.query)
    },
  }),
  route({
    name: 'importIntoCategory',
    method: 'POST',
    path: at.contentOfCategory,
    permission: 'workflow:edit',
    query: importQuery,
    takes: importForm,
    answers: { 200: 'import-report', 400: 'import-report' },
    doc: `Same as POST ${at.workflows}, into this folder.`,
    async handle(context, caller) {
      const { category } = caller.params
      return takeImport(context, caller, await caller.body, caller.query, category)
    },
  }),
  route({
    name: 'deleteWorkflow',
    method: 'DELETE',
    path: at.workflow,
    permission: 'workflow:edit',
    query: Type.Object({ force: flag }),
    answers: { 200: 'nothing' },
    doc: 'Deletes a workflow; the records of its runs are kept. Returns 409 while it has active runs or schedules, unless force=true, which cancels the runs and deletes the schedules.',
    async handle(context, caller) {
      await remove(context, caller, caller.params.workflow, caller.query.force === 'true')
      return { status: 200 }
    },
  }),
  withFormats(
    ['xml', 'json', 'yaml'],
    route({
      name: 'readContent',
      method: 'GET',
      path: at.content,
      permission: 'workflow:read',
      answers: { 200: 'content' },
      doc: 'Returns the definition: the original text with Accept: application/yaml, the document as JSON, or the text in XML.',
      async handle(context, caller) {
        const { text, document, digest, version } = await current(
          context,
          caller,
          caller.params.workflow,
        )
        if (caller.format === 'yaml') return { status: 200, body: text }
        const xml = element('content', { version, digest }, text)
        return { status: 200, body: { xml, json: document } }
      },
    }),
  ),
  withFormats(
    ['svg', 'json'],
    route({
      name: 'drawWorkflow',
      method: 'GET',
      path: at.schema,
      permission: 'workflow:read',
      answers: { 200: 'drawing' },
      doc: 'Returns a drawing of the workflow; with Accept: application/json as data: steps, sizes and arrows.',
      async handle(context, caller) {
        const { document } = await current(context, caller, caller.params.workflow)
        const definition = definitionOf(document as unknown as DefinitionDocument)
        if (caller.format === 'json') {
          return { status: 200, body: renderJson(outlineWorkflow(definition)) }
        }
        return { status: 200, body: drawWorkflow(definition) }
      },
    }),
  ),
  route({
    name: 'listVersions',
    method: 'GET',
    path: at.versions,
    permission: 'workflow:read',
    answers: { 200: 'versions' },
    doc: 'Lists all versions, newest first. A version never changes.',
    async handle(context, { principal, params: { workflow } }) {
      const versions = await context.as(principal, (tx) => listVersions(tx, workflow))
      return { status: 200, body: versionsDocument(workflow, versions) }
    },
  }),
  route({
    name: 'listPermissions',
    method: 'GET',
    path: at.permissions,
    permission: 'workflow:read',
    answers: { 200: 'permissions' },
    doc: 'Lists which roles of the cloud may read, run and edit it. Roles of an organisation may read it with the right org:read, run it with vm:power, edit it with vm:edit, and end the runs of others with org:admin.',
    async handle({ base }, { params: { workflow } }) {
      return { status: 200, body: permissionsDocument(workflow, new WorkflowHrefs(base)) }
    },
  }),
  route({
    name: 'readCatalogItem',
    method: 'GET',
    path: at.catalogItem,
    permission: 'workflow:read',
    answers: { 200: 'catalog-item' },
    doc: 'Returns a workflow as a catalog item.',
    async handle({ base }, { principal, params: { workflow } }) {
      return {
        status: 200,
        body: catalogDocument(workflow, { principal, hrefs: new WorkflowHrefs(base) }),
      }
    },
  }),
]

async function remove(
  context: WorkflowRequestContext,
  { principal }: WorkflowCaller,
  workflow: FoundWorkflow,
  force: boolean,
): Promise<void> {
  const using = await context.as(principal, (tx) => inUse(tx, workflow))
  const { runs, schedules } = using
  if (runs.length + schedules.length > 0 && !force) {
    throw new Fault(
      'conflict',
      `${workflow.name} is in use: ${runs.length} active runs, ${schedules.length} schedules`,
      { hint: 'use force=true to cancel the runs and delete the schedules' },
    )
  }
  if (runs.length + schedules.length > 0) authorizeOwn(principal, workflow.owner)
  await context.as(principal, async (tx) => {
    await deleteWorkflow(tx, workflow)
    for (const id of runs) await markCanceled(tx, { org: workflow.org, id })
    for (const id of schedules) await deleteSchedule(tx, { org: workflow.org, id })
  })
  // If Temporal is unavailable now, tend-runs.ts repeats this later.
  for (const id of runs) await context.runs.cancel(id).catch(() => undefined)
  for (const id of schedules) await tryToEndSchedule(context, principal, id)
}
