// Every document that a test receives is validated against the published schema, and has the requested version.
// Documents in JSON are held to the JSON Schemas of the OpenAPI document at once. The others of a test file are validated together when it ends, by one run of xmllint.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'

import { isJson } from '../src/dialect/accept.ts'
import { original, ours, type Dialect } from '../src/dialect/dialect.ts'
import { schemaIn } from '../src/documents/schema-in.ts'
import { holdToJsonSchema, isJsonDocument } from './json-documents.ts'

export const SCHEMA = join(import.meta.dirname, '../schema/v1.5')

export interface Said {
  /** Default: our dialect. */
  readonly dialect?: Dialect
  /** The request: 'GET /api/org'. */
  readonly requested: string
  readonly accept: string | undefined
  readonly status: number
  readonly type: string | undefined
  readonly text: string
}

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g

/** Free text, chosen by people and tests: the schema accepts any. */
const FREE = / (name|user|org|operation|message|containerName|ownerName|objectName)="[^"]*"/g

/** Documents that differ only in ids, times, numbers and free text are the same to the schema. */
const shapeOf = (text: string): string =>
  text
    .replaceAll(UUID, 'U')
    .replaceAll(TIME, 'T')
    .replaceAll(FREE, ' $1=""')
    .replaceAll(/\d+/g, '0')

/** Only test files are checked: benchmarks use the same client and must not be slowed down. */
const watched = /\.(test|slow)\.ts$/.test(process.argv[1] ?? '')

const seen = new Map([ours, original].map((dialect) => [dialect, new Map<string, Said>()]))
const counted = { answers: 0, documents: 0 }
/** Validated together, so that measurements of responses do not include it. */
const waiting: Said[] = []
const PILE = 256

function sort(): void {
  for (const said of waiting.splice(0)) {
    const shape = shapeOf(said.text)
    const known = seen.get(said.dialect ?? ours)
    if (known && !known.has(shape)) known.set(shape, said)
  }
}

/** The version that a media type of this dialect names. */
function versionIn(type: string, { media }: Dialect): string | undefined {
  const [, plain = '', version] =
    /^(.+);version=(\d+\.\d+)$/.exec(type.replace('+json;', '+xml;')) ?? []
  if (plain === 'application/json') return version
  const isOurs = ['X', 'admin.X'].some((each) => {
    const [before = '', behind = ''] = media(each).split('X')
    const name = plain.slice(before.length, -behind.length)
    return plain === before + name + behind && /^[A-Za-z.]+$/.test(name)
  })
  return isOurs ? version : undefined
}

/** Checks the type at once, and keeps the document until the end of the file. */
export function holdToSchema(said: Said): void {
  if (!watched) return
  counted.answers += 1
  const { requested, accept, status, type = '', text } = said
  if (text === '') {
    assert.ok([202, 204].includes(status), `${requested}: ${status} without a document`)
    return
  }
  if (type.startsWith('text/event-stream') || type === 'image/png' || type.startsWith('text/csv'))
    return
  if (type === 'application/json' && requested.includes('openapi.json')) return
  const found = versionIn(type, said.dialect ?? ours)
  assert.ok(found, `${requested}: ${status} comes as ${type}`)
  // Of several ranges one decides: json.test.ts checks which.
  const wanted = /^[^,]*version=(1\.5|5\.1|5\.5)\b[^,]*$/.exec(accept ?? '')?.[1]
  if (wanted !== undefined && !requested.includes('/schema/')) {
    assert.equal(found, wanted, `${requested}: another version than ${accept}`)
  }
  if (requested.includes('/schema/') && status === 200) return
  counted.documents += 1
  if (isJson(type)) {
    if (isJsonDocument(type)) holdToJsonSchema(requested, type, text)
    return
  }
  waiting.push(said)
  if (waiting.length >= PILE) sort()
}

/** The errors of xmllint, by the index of the document; empty if all are valid. */
export async function validate(
  documents: readonly string[],
  dialect = ours,
): Promise<Map<number, string[]>> {
  const wrong = new Map<number, string[]>()
  if (documents.length === 0) return wrong
  const dir = await mkdtemp(join(tmpdir(), 'skerry-schema-'))
  try {
    const schema = await writeSchema(join(dir, 'schema'), dialect)
    await Promise.all(documents.map((text, at) => writeFile(join(dir, `${at}.xml`), text)))
    const names = documents.map((_, at) => `${at}.xml`)
    const lines = await new Promise<string>((resolve) => {
      const args = ['--noout', '--nonet', '--schema', schema, ...names]
      const options = { cwd: dir, maxBuffer: 64 * 1024 * 1024 }
      execFile('xmllint', args, options, (_error, _stdout, stderr) => resolve(stderr))
    })
    let reported = 0
    for (const line of lines.split('\n')) {
      const at = /^(\d+)\.xml(?::| )/.exec(line)?.[1]
      if (at === undefined) continue
      if (line.endsWith(' validates') || line.endsWith(' fails to validate')) reported += 1
      if (!line.endsWith(' validates')) {
        wrong.set(Number(at), [...(wrong.get(Number(at)) ?? []), line])
      } else assert.equal(wrong.get(Number(at)), undefined)
    }
    assert.ok(reported > 0, `xmllint reports on no document (npm run setup installs it): ${lines}`)
    for (let at = 0; at < documents.length; at += 1) {
      if (!lines.includes(`${at}.xml validates`) && !wrong.has(at)) wrong.set(at, ['not read'])
    }
    return wrong
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}

/** The schema as clients of this dialect receive it. */
async function writeSchema(dir: string, dialect: Dialect): Promise<string> {
  await mkdir(dir)
  for (const file of await readdir(SCHEMA)) {
    const text = await readFile(join(SCHEMA, file), 'utf8')
    await writeFile(join(dir, file), schemaIn(dialect, file, text))
  }
  return join(dir, 'master.xsd')
}

/** Validates the documents received so far, and throws if one is invalid. Returns their number. */
export async function holdAll(): Promise<{
  readonly answers: number
  readonly documents: number
  readonly shapes: number
}> {
  sort()
  const report: string[] = []
  for (const [dialect, known] of seen) {
    const all = [...known.values()]
    const wrong = await validate(
      all.map(({ text }) => text),
      dialect,
    )
    for (const [at, lines] of wrong) {
      report.push([`${all[at]?.requested}: ${all[at]?.status}`, ...lines, all[at]?.text].join('\n'))
    }
  }
  assert.deepEqual(report, [], 'every document is valid')
  const shapes = [...seen.values()].reduce((sum, { size }) => sum + size, 0)
  return { ...counted, shapes }
}

/** A hook that throws prevents all later hooks, which close what the file has opened: then the process would never end. */
async function holdAtTheEnd(): Promise<void> {
  try {
    await holdAll()
  } catch (error) {
    process.stderr.write(`${String(error)}\n`)
    process.exitCode = 1
  }
}

if (watched) after(holdAtTheEnd)
