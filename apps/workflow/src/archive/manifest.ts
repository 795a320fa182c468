import { createHash } from 'node:crypto'

import { Type, type Static } from 'typebox'
import { Compile } from 'typebox/compile'

/** A workflow as it leaves one server and comes to another: what its author wrote, and what it is called. No run, no value, no secret. */
export interface ArchivedWorkflow {
  readonly id: string
  readonly name: string
  readonly description: string
  /** From the outermost on: `Library/Backup`. */
  readonly folder: string
  readonly version: string
  readonly tags: readonly string[]
  /** The definition, letter by letter as it was given. */
  readonly text: string
  /** JSON Schema of the input, where there is one. */
  readonly form: object | undefined
}

/** What is in an archive, in this order, and how large it may be. */
export const archiveEntries = {
  'workflow.yaml': 256 * 1024,
  'input-form.json': 256 * 1024,
  'manifest.json': 64 * 1024,
} as const
export type EntryName = keyof typeof archiveEntries

/** All together, with headers and names. */
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

/** SHA-256 as hexadecimal digits: of an entry, and of a version of a workflow by its text. */
export const digestOf = (content: string | Uint8Array): string =>
  createHash('sha256').update(content).digest('hex')

/** What stands in manifest.json beside the entries whose bytes these are. */
export const manifestOf = (
  { id, name, description, folder, version, tags }: ArchivedWorkflow,
  text: Uint8Array,
  form: Uint8Array | undefined,
): Manifest => ({
  ...{ format: FORMAT, id, name, description, folder, version },
  tags: [...new Set(tags)].toSorted(),
  entries: {
    'workflow.yaml': digestOf(text),
    ...(form !== undefined && { 'input-form.json': digestOf(form) }),
  },
})

/** The manifest, or what is wrong with it. */
export function readManifest(value: unknown): { manifest: Manifest } | { wrong: string[] } {
  const format = typeof value === 'object' && value !== null && 'format' in value && value.format
  if (typeof format === 'number' && format > FORMAT)
    return { wrong: [`format ${format}: made by a newer server; this one knows ${FORMAT}`] }
  if (compiled.Check(value)) return { manifest: value }
  return {
    wrong: [...compiled.Errors(value)]
      .slice(0, 10)
      .map(({ instancePath, message }) => `${instancePath || '/'}: ${message}`),
  }
}

/** JSON that is the same for the same content, whatever the order in which it came. */
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
