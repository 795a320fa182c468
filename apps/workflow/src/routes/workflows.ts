import { createHash } from 'node:crypto'

import { Fault } from '@skerry/fault'
import { element } from '@skerry/xml'
import { Type } from 'typebox'

import { at, Hrefs } from '../addresses.ts'
import { writeArchive } from '../archive/write.ts'
import type { Document } from '../definition/definition.ts'
import { definitionOf } from '../definition/parse.ts'
import { reportDocument } from '../documents/import-report.ts'
import {
  catalogDocument,
  permissionsDocument,
  versionsDocument,
  workflowDocument,
} from '../documents/workflow.ts'
import { drawWorkflow } from '../drawing/draw.ts'
import type { Asker } from '../http/asker.ts'
import { attachment } from '../http/file-name.ts'
import { form as importForm, type Form } from '../http/multipart.ts'
import { things } from '../http/things.ts'
import { media } from '../http/wants.ts'
import { authorizeOwn, unknownThing } from '../identity/rights.ts'
import { importWorkflow } from '../import-workflow.ts'
import { offering, route, type WorkflowRoute } from '../route.ts'
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
import type { RequestWorld } from '../world.ts'

const current = (world: RequestWorld, { who }: Asker, workflow: FoundWorkflow) =>
  world.as(who, (tx) => readVersion(tx, workflow))

/** The same workflow is the same bytes, wherever it is exported. */
async function exported(workflow: FoundWorkflow, version: VersionRow, ifNoneMatch?: string) {
  const { id, name, description, path, tags } = workflow
  const { version: called, text, form } = version
  const bytes = await writeArchive({
    ...{ id, name, description, folder: path, version: called, tags, text },
    form: form ?? undefined,
  })
  const etag = `"${createHash('sha256').update(bytes).digest('hex')}"`
  const headers = {
    ...{ etag, 'cache-control': 'private, no-cache' },
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

type Asked = Readonly<Partial<Record<'categoryId' | 'overwrite' | 'dryRun', string>>>

async function takeImport(
  world: RequestWorld,
  { who }: Asker,
  { fields, file }: Form,
  asked: Asked,
  named?: CategoryRow,
) {
  if (!file) {
    throw new Fault('invalid', 'nothing was sent: the part file holds what is imported', {
      hint: 'curl -F file=@NAME.workflow',
    })
  }
  const one = (name: keyof Asked) => asked[name] ?? fields.get(name)
  const id = one('categoryId')
  const category =
    id === undefined || id === ''
      ? named
      : await world.as(who, (tx) => things.category(tx, id, { who, found: {} }))
  if (id !== undefined && id !== '' && !category) throw unknownThing()
  const report = await importWorkflow(world, who, {
    ...{ bytes: file.bytes, category },
    ...{ overwrite: one('overwrite') === 'true', dryRun: one('dryRun') === 'true' },
  })
  const hrefs = new Hrefs(world.base)
  const body = reportDocument(report, hrefs)
  if (report.result === 'refused') return { status: 400, body }
  return { status: 200, headers: { location: hrefs.workflow(report.id ?? '') }, body }
}

export const workflows: readonly WorkflowRoute[] = [
  offering(
    ['xml', 'json', 'zip'],
    route({
      name: 'readWorkflow',
      method: 'GET',
      path: at.workflow,
      permission: 'workflow:read',
      answers: { 200: 'workflow', 304: 'nothing' },
      doc: 'One workflow. With Accept: application/zip its archive, to be saved as NAME.workflow: the same workflow is the same bytes, and ETag with If-None-Match spares the way.',
      async handle(world, asker) {
        const { workflow } = asker.params
        const version = await current(world, asker, workflow)
        if (asker.format === 'zip') return exported(workflow, version, asker.ifNoneMatch)
        const sees = { who: asker.who, hrefs: new Hrefs(world.base) }
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
    doc: 'Imports an archive, or a definition in YAML or JSON: multipart/form-data with the part file, or the bytes as the whole body. categoryId names the folder, overwrite=true makes it the current version of what is here under the same id, dryRun=true only tells what would be; each may also be a part. The report says what is wrong, and in which line.',
    async handle(world, asker) {
      return takeImport(world, asker, await asker.body, asker.query)
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
    doc: `As POST ${at.workflows}, into this folder.`,
    async handle(world, asker) {
      const { category } = asker.params
      return takeImport(world, asker, await asker.body, asker.query, category)
    },
  }),
  route({
    name: 'deleteWorkflow',
    method: 'DELETE',
    path: at.workflow,
    permission: 'workflow:edit',
    query: Type.Object({ force: flag }),
    answers: { 200: 'nothing' },
    doc: 'Deletes a workflow; what is known of its runs stays. 409 while runs of it go on or a schedule names it, unless force=true cancels those and ends these.',
    async handle(world, asker) {
      await remove(world, asker, asker.params.workflow, asker.query.force === 'true')
      return { status: 200 }
    },
  }),
  offering(
    ['xml', 'json', 'yaml'],
    route({
      name: 'readContent',
      method: 'GET',
      path: at.content,
      permission: 'workflow:read',
      answers: { 200: 'content' },
      doc: 'The definition: as its author wrote it with Accept: application/yaml, its document as JSON, or the text in XML.',
      async handle(world, asker) {
        const { text, document, digest, version } = await current(
          world,
          asker,
          asker.params.workflow,
        )
        if (asker.format === 'yaml') return { status: 200, body: text }
        const xml = element('content', { version, digest }, text)
        return { status: 200, body: { xml, json: document } }
      },
    }),
  ),
  offering(
    ['svg'],
    route({
      name: 'drawWorkflow',
      method: 'GET',
      path: at.schema,
      permission: 'workflow:read',
      answers: { 200: 'image/svg+xml' },
      doc: 'The workflow as a drawing.',
      async handle(world, asker) {
        const { document } = await current(world, asker, asker.params.workflow)
        const definition = definitionOf(document as unknown as Document)
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
    doc: 'Every version there was, newest first. A version never changes.',
    async handle(world, { who, params: { workflow } }) {
      const versions = await world.as(who, (tx) => listVersions(tx, workflow))
      return { status: 200, body: versionsDocument(workflow, versions) }
    },
  }),
  route({
    name: 'listPermissions',
    method: 'GET',
    path: at.permissions,
    permission: 'workflow:read',
    answers: { 200: 'permissions' },
    doc: 'Which roles of the cloud may read, run and edit it.',
    async handle({ base }, { params: { workflow } }) {
      return { status: 200, body: permissionsDocument(workflow, new Hrefs(base)) }
    },
  }),
  route({
    name: 'readCatalogItem',
    method: 'GET',
    path: at.catalogItem,
    permission: 'workflow:read',
    answers: { 200: 'catalog-item' },
    doc: 'A workflow as an item of the catalog.',
    async handle({ base }, { who, params: { workflow } }) {
      return { status: 200, body: catalogDocument(workflow, { who, hrefs: new Hrefs(base) }) }
    },
  }),
]

async function remove(
  world: RequestWorld,
  { who }: Asker,
  workflow: FoundWorkflow,
  force: boolean,
): Promise<void> {
  const using = await world.as(who, (tx) => inUse(tx, workflow))
  const { runs, schedules } = using
  if (runs.length + schedules.length > 0 && !force) {
    throw new Fault(
      'conflict',
      `${workflow.name} is in use: ${runs.length} runs go on, ${schedules.length} schedules name it`,
      { hint: 'force=true cancels the runs and ends the schedules' },
    )
  }
  if (runs.length + schedules.length > 0) authorizeOwn(who, workflow.owner)
  await world.as(who, async (tx) => {
    await deleteWorkflow(tx, workflow)
    for (const id of runs) await markCanceled(tx, { org: workflow.org, id })
    for (const id of schedules) await deleteSchedule(tx, { org: workflow.org, id })
  })
  // What Temporal does not hear now it is told again (tend-runs.ts).
  for (const id of runs) await world.runs.cancel(id).catch(() => undefined)
  for (const id of schedules) await world.runs.schedules.delete(id).catch(() => undefined)
}
