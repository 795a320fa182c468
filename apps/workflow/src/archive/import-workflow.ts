import { isDeepStrictEqual } from 'node:util'

import { Fault } from '@skerry/fault'
import {
  type Complaint,
  type WorkflowDefinition,
  parseAndCompile,
} from '@skerry/serverless-workflow'
import { isUuid } from '@skerry/vm'

import type { WorkflowRequestContext } from '../context.ts'
import type { ImportReport } from '../documents/import-report.ts'
import { notFound, type WorkflowPrincipal } from '../identity/rights.ts'
import { ensureCategory, type CategoryRow } from '../store/categories.ts'
import type { WorkflowTx, RunValues } from '../store/database.ts'
import { digestOf } from '../store/load-run.ts'
import { pauseForChange } from '../store/schedules.ts'
import {
  findByCalled,
  findForImport,
  saveVersion,
  type NewVersion,
  type WorkflowRow,
} from '../store/workflows.ts'
import { readArchive } from './read.ts'

/** The folder of a workflow that names none. */
const FOLDER = 'Workflows'
const NAME_MAX = 200

export interface WorkflowImportOptions {
  readonly bytes: Buffer
  /** The target folder. If missing: its current folder, or the one that the archive names. */
  readonly category: CategoryRow | undefined
  readonly overwrite: boolean
  readonly dryRun: boolean
}

interface ImportedWorkflow {
  readonly definition: WorkflowDefinition
  readonly text: string
  readonly form: RunValues | undefined
  readonly id: string | undefined
  readonly folder: string | undefined
}

type Complaints = { readonly complaints: ImportReport['complaints'] }

/** Imports an archive made by an export, or a plain definition. Writes nothing unless all of it is valid. */
export async function importWorkflow(
  context: WorkflowRequestContext,
  principal: WorkflowPrincipal,
  requested: WorkflowImportOptions,
): Promise<ImportReport> {
  const { dryRun } = requested
  const incoming = await readIncoming(requested.bytes, context)
  if ('complaints' in incoming) {
    return { dryRun, result: 'refused', complaints: incoming.complaints }
  }
  class Undo extends Error {}
  let report: ImportReport | undefined
  try {
    await context.as(principal, async (tx) => {
      report = await storeImported(tx, principal, incoming, { ...requested, uuid: context.uuid })
      // Dry run: do everything, so that everything is checked, then roll back.
      if (dryRun) throw new Undo()
    })
  } catch (error) {
    if (!(error instanceof Undo)) throw error
  }
  if (!report) throw new TypeError('an import ended without a report')
  if (!dryRun) await pauseInTemporal(context, report.paused ?? [])
  return report
}

/** A due time of a paused schedule starts nothing anyway. Pausing it in Temporal only saves work, so errors are ignored. */
async function pauseInTemporal(
  { runs }: WorkflowRequestContext,
  schedules: readonly string[],
): Promise<void> {
  for (const id of schedules) await runs.schedules.pause(id, true).catch(() => undefined)
}

type ImportChecks = Pick<WorkflowRequestContext, 'functions' | 'evaluate'>

async function readIncoming(
  bytes: Buffer,
  judge: ImportChecks,
): Promise<ImportedWorkflow | Complaints> {
  if (bytes.subarray(0, 2).toString('latin1') === 'PK') {
    return readArchived(bytes, judge)
  }
  const parsed = await parseAndCompile(textOf(bytes), judge.functions, judge.evaluate)
  if ('complaints' in parsed) return parsed
  return requireTitle(parsed.definition, { text: textOf(bytes), id: undefined, folder: undefined })
}

async function readArchived(
  bytes: Buffer,
  judge: ImportChecks,
): Promise<ImportedWorkflow | Complaints> {
  const archive = readArchive(bytes)
  if ('complaints' in archive) {
    return { complaints: archive.complaints.map(({ entry, message }) => ({ at: entry, message })) }
  }
  const { id, text, folder, form } = archive.workflow
  const parsed = await parseAndCompile(text, judge.functions, judge.evaluate)
  if ('complaints' in parsed) return parsed
  const { input } = parsed.definition
  const complaints = [
    ...(isUuid(id) ? [] : [{ at: 'manifest.json', message: 'the id must be a UUID' }]),
    ...(isDeepStrictEqual(form, input)
      ? []
      : [
          {
            at: 'input-form.json',
            message: 'the form differs from the input schema of the definition',
          },
        ]),
  ]
  if (complaints.length > 0) return { complaints }
  return requireTitle(parsed.definition, { text, id, folder })
}

const textOf = (bytes: Buffer): string => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw new Fault('invalid', 'the file is neither UTF-8 text (a definition) nor a zip archive', {
      cause,
    })
  }
}

/** The title is the workflow's name in every list. */
function requireTitle(
  definition: WorkflowDefinition,
  from: Pick<ImportedWorkflow, 'text' | 'id' | 'folder'>,
): ImportedWorkflow | Complaints {
  const { title } = definition
  const form = definition.input as RunValues | undefined
  if (title.trim() !== '' && title.length <= NAME_MAX && !/\p{Cc}/u.test(title)) {
    return { definition, form, ...from }
  }
  const message = `the title must have 1 to ${NAME_MAX} characters and no control characters`
  return { complaints: [{ at: '/document/title', message } satisfies Partial<Complaint>] }
}

async function storeImported(
  tx: WorkflowTx,
  principal: WorkflowPrincipal,
  { definition, text, form, id, folder }: ImportedWorkflow,
  requested: WorkflowImportOptions & { readonly uuid: () => string },
): Promise<ImportReport> {
  const { namespace, name: called, version, title: name, summary, tags } = definition
  if (requested.category && requested.category.org !== principal.org) throw notFound()
  const known =
    id === undefined
      ? await findByCalled(tx, principal, namespace, called)
      : await findForImport(tx, principal, id)
  const digest = digestOf(text)
  const category = await folderFor(tx, principal, requested.category, known, folder)
  const next: NewVersion = {
    id: known?.id ?? id ?? requested.uuid(),
    category,
    name,
    description: summary,
    tags,
    version,
    namespace,
    called,
    digest,
    text,
    document: { ...definition.document },
    form,
  }
  const there = known && known.deleted_at === null ? known : undefined
  const report = {
    dryRun: requested.dryRun,
    id: next.id,
    name,
    version,
    category: category.path,
    digest,
    ...(there && { previous: there.version }),
    complaints: [],
  }
  if (there && isSame(there, next)) return { ...report, result: 'unchanged' }
  if (there && !requested.overwrite) {
    throw new Fault('conflict', `${there.name} exists already, with version ${there.version}`, {
      hint: 'use overwrite=true to make this the current version; the other version is kept',
    })
  }
  await saveVersion(tx, principal, next)
  const changes = there !== undefined && there.digest !== digest
  const stopped = changes ? await pauseForChange(tx, principal, { workflow: next.id, version }) : []
  return {
    ...report,
    result: there ? 'updated' : 'created',
    ...(stopped.length > 0 && { paused: stopped }),
  }
}

async function folderFor(
  tx: WorkflowTx,
  principal: WorkflowPrincipal,
  category: CategoryRow | undefined,
  known: WorkflowRow | undefined,
  folder: string | undefined,
): Promise<CategoryRow> {
  if (category) return category
  if (folder !== undefined) return ensureCategory(tx, principal.org, folder)
  if (!known) return ensureCategory(tx, principal.org, FOLDER)
  return tx
    .selectFrom('category')
    .selectAll()
    .where('org', '=', known.org)
    .where('id', '=', known.category)
    .executeTakeFirstOrThrow()
}

const isSame = (there: WorkflowRow, next: NewVersion): boolean =>
  there.digest === next.digest &&
  there.category === next.category.id &&
  there.name === next.name &&
  there.tags.join() === next.tags.join()
