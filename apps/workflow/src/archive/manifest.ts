import { createHash } from 'node:crypto'

import { Compile, type Static, Type } from '@skerry/schema'

/** A workflow as exported and imported: its definition and its metadata. No runs, no values, no secrets. */
export interface ArchivedWorkflow {
  readonly id: string
  readonly name: string
  readonly description: string
  /** The path from the outermost folder: `Library/Backup`. */
  readonly folder: string
  readonly version: string
  readonly tags: readonly string[]
  /** The definition, byte for byte as its author wrote it. */
  readonly text: string
  /** JSON Schema of the input, if there is one. */
  readonly form: object | undefined
}

/** The entries of an archive, in this order, with their maximum sizes. */
export const archiveEntries = {
  'workflow.yaml': 256 * 1024,
  'input-form.json': 256 * 1024,
  'manifest.json': 64 * 1024,
} as const
export type EntryName = keyof typeof archiveEntries

/** The maximum size of an archive, with headers and names. */
export const ARCHIVE_BYTES = 1024 * 1024

const FORMAT = 1
const digest = Type.String({ pattern: '^[0-9a-f]{64}$' })
const line = (maxLength: number) =>
  Type.String({ minLength: 1, maxLength, pattern: '^[^\\u0000-\\u001f\\u007f]*$' })

export const manifestSchema = Type.Object(
  {
    format: Type.Literal(FORMAT),
    id: Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$' }),
    name: line(200),
    description: Type.String({ maxLength: 10_000 }),
    folder: line(1000),
    version: line(64),
    tags: Type.Array(line(514), { maxItems: 100, uniqueItems: true }),
    entries: Type.Object(
      { 'workflow.yaml': digest, 'input-form.json': Type.Optional(digest) },
      { additionalProperties: false },
    ),
  },
  { additionalProperties: false },
)
export type Manifest = Static<typeof manifestSchema>

const compiled = Compile(manifestSchema)

/** SHA-256 in hexadecimal: of an entry, or of a workflow version's text. */
export const digestOf = (content: string | Uint8Array): string =>
  createHash('sha256').update(content).digest('hex')

/** The content of manifest.json for entries with these bytes. */
export const manifestOf = (
  { id, name, description, folder, version, tags }: ArchivedWorkflow,
  text: Uint8Array,
  form: Uint8Array | undefined,
): Manifest => ({
  format: FORMAT,
  id,
  name,
  description,
  folder,
  version,
  tags: [...new Set(tags)].toSorted(),
  entries: {
    'workflow.yaml': digestOf(text),
    ...(form !== undefined && { 'input-form.json': digestOf(form) }),
  },
})

/** Returns the manifest, or a list of problems. */
export function readManifest(value: unknown): { manifest: Manifest } | { wrong: string[] } {
  const format = typeof value === 'object' && value !== null && 'format' in value && value.format
  if (typeof format === 'number' && format > FORMAT)
    return { wrong: [`format ${format}: made by a newer server; this one supports ${FORMAT}`] }
  if (compiled.Check(value)) return { manifest: value }
  return {
    wrong: [...compiled.Errors(value)]
      .slice(0, 10)
      .map(({ instancePath, message }) => `${instancePath || '/'}: ${message}`),
  }
}

/** JSON that is identical for equal content, independent of the order of keys. */
export const sortedJson = (value: unknown): string =>
  `${JSON.stringify(sorted(value), undefined, 2)}\n`

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  )
}
