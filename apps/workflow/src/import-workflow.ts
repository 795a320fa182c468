import { isDeepStrictEqual } from 'node:util'

import { Fault } from '@skerry/fault'

import { readArchive } from './archive/read.ts'
import type { Complaint, Definition } from './definition/definition.ts'
import { parseAndCompile } from './definition/parse.ts'
import type { Report } from './documents/import-report.ts'
import { unknownThing, type Who } from './identity/rights.ts'
import { ensureCategory, type CategoryRow } from './store/categories.ts'
import type { Tx, Values } from './store/database.ts'
import { digestOf } from './store/load-run.ts'
import {
  findByCalled,
  findForImport,
  saveVersion,
  type NewVersion,
  type WorkflowRow,
} from './store/workflows.ts'
import type { RequestWorld } from './world.ts'

/** Where a workflow goes that says nothing about it. */
const FOLDER = 'Workflows'
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const NAME_MAX = 200

export interface ImportAsked {
  readonly bytes: Buffer
  /** Where it shall be; missing: where it was, or where the archive says. */
  readonly category: CategoryRow | undefined
  readonly overwrite: boolean
  readonly dryRun: boolean
}

interface Incoming {
  readonly definition: Definition
  readonly text: string
  readonly form: Values | undefined
  readonly id: string | undefined
  readonly folder: string | undefined
}

type Complaints = { readonly complaints: Report['complaints'] }

/** An archive of ours, or a definition alone. Nothing is written unless all of it is good. */
export async function importWorkflow(
  world: RequestWorld,
  who: Who,
  asked: ImportAsked,
): Promise<Report> {
  const { dryRun } = asked
  const incoming = await readIncoming(asked.bytes, world)
  if ('complaints' in incoming) {
    return { dryRun, result: 'refused', complaints: incoming.complaints }
  }
  class Undo extends Error {}
  let report: Report | undefined
  try {
    await world.as(who, async (tx) => {
      report = await store(tx, who, incoming, { ...asked, uuid: world.uuid })
      // Dry: all of it is done, so that all of it is checked, and none of it stays.
      if (dryRun) throw new Undo()
    })
  } catch (error) {
    if (!(error instanceof Undo)) throw error
  }
  if (!report) throw new TypeError('an import ended without a report')
  return report
}

type Judge = Pick<RequestWorld, 'functions' | 'evaluate'>

async function readIncoming(bytes: Buffer, judge: Judge): Promise<Incoming | Complaints> {
  if (bytes.subarray(0, 2).toString('latin1') === 'PK') {
    return readArchived(bytes, judge)
  }
  const parsed = await parseAndCompile(textOf(bytes), judge.functions, judge.evaluate)
  if ('complaints' in parsed) return parsed
  return fitting(parsed.definition, { text: textOf(bytes), id: undefined, folder: undefined })
}

async function readArchived(bytes: Buffer, judge: Judge): Promise<Incoming | Complaints> {
  const archive = await readArchive(bytes)
  if ('complaints' in archive) {
    return { complaints: archive.complaints.map(({ entry, message }) => ({ at: entry, message })) }
  }
  const { id, text, folder, form } = archive.workflow
  const parsed = await parseAndCompile(text, judge.functions, judge.evaluate)
  if ('complaints' in parsed) return parsed
  const { input } = parsed.definition
  const complaints = [
    ...(UUID.test(id) ? [] : [{ at: 'manifest.json', message: 'the id must be a UUID' }]),
    ...(isDeepStrictEqual(form, input)
      ? []
      : [{ at: 'input-form.json', message: 'this is not the form that the definition has' }]),
  ]
  if (complaints.length > 0) return { complaints }
  return fitting(parsed.definition, { text, id, folder })
}

const textOf = (bytes: Buffer): string => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw new Fault('invalid', 'a definition must be UTF-8, and an archive a zip', { cause })
  }
}

/** Its title is what it is called in every list. */
function fitting(
  definition: Definition,
  from: Pick<Incoming, 'text' | 'id' | 'folder'>,
): Incoming | Complaints {
  const { title } = definition
  const form = definition.input as Values | undefined
  if (title.trim() !== '' && title.length <= NAME_MAX && !/\p{Cc}/u.test(title)) {
    return { definition, form, ...from }
  }
  const message = `the title has 1 to ${NAME_MAX} characters, none of them a control character`
  return { complaints: [{ at: '/document/title', message } satisfies Partial<Complaint>] }
}

async function store(
  tx: Tx,
  who: Who,
  { definition, text, form, id, folder }: Incoming,
  asked: ImportAsked & { readonly uuid: () => string },
): Promise<Report> {
  const { namespace, name: called, version, title: name, summary, tags } = definition
  if (asked.category && asked.category.org !== who.org) throw unknownThing()
  const known =
    id === undefined
      ? await findByCalled(tx, who, namespace, called)
      : await findForImport(tx, who, id)
  const digest = digestOf(text)
  const category = await folderFor(tx, who, asked.category, known, folder)
  const next: NewVersion = {
    ...{ id: known?.id ?? id ?? asked.uuid(), category, name, description: summary, tags },
    ...{ version, namespace, called, digest, text, document: { ...definition.document }, form },
  }
  const there = known && known.deleted_at === null ? known : undefined
  const said = {
    ...{ dryRun: asked.dryRun, id: next.id, name, version, category: category.path, digest },
    ...(there && { previous: there.version }),
    complaints: [],
  }
  if (there && isSame(there, next)) return { ...said, result: 'unchanged' }
  if (there && !asked.overwrite) {
    throw new Fault('conflict', `${there.name} is here already, as version ${there.version}`, {
      hint: 'overwrite=true makes this one the current version; the other is kept',
    })
  }
  await saveVersion(tx, who, next)
  return { ...said, result: there ? 'updated' : 'created' }
}

async function folderFor(
  tx: Tx,
  who: Who,
  category: CategoryRow | undefined,
  known: WorkflowRow | undefined,
  folder: string | undefined,
): Promise<CategoryRow> {
  if (category) return category
  if (folder !== undefined) return ensureCategory(tx, who.org, folder)
  if (!known) return ensureCategory(tx, who.org, FOLDER)
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
