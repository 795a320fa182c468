// A form from a JSON Schema: what is typed is a draft, which becomes a value or errors in words. The errors are advice, and the server
// decides: what it accepts is no error here. tests/schema-forms.test.ts compares both.
export interface FormSchema {
  readonly type?: string | readonly string[]
  readonly title?: string
  readonly description?: string
  readonly enum?: readonly unknown[]
  readonly default?: unknown
  readonly format?: string
  readonly pattern?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: number
  readonly exclusiveMaximum?: number
  readonly multipleOf?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly items?: FormSchema
  readonly properties?: Readonly<Record<string, FormSchema>>
  readonly required?: readonly string[]
}

/** What is typed: numbers and JSON as text. */
export type FormDraft =
  | string
  | boolean
  | readonly FormDraft[]
  | { readonly [name: string]: FormDraft }

export type FieldKind =
  | 'choice'
  | 'flag'
  | 'number'
  | 'text'
  | 'secret'
  | 'date'
  | 'time'
  | 'list'
  | 'group'
  | 'json'

/** Errors by the path of their field, such as /disks/0/size; '' is the form itself. */
export type FormErrors = ReadonlyMap<string, string>

export interface FormResult {
  readonly value: unknown
  readonly errors: FormErrors
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A schema may name a property `constructor`, which every object inherits. */
export const ownValue = <T>(values: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(values, name) ? values[name] : undefined

/** More fields than these are no form that a person fills in, and each costs the page at every key. */
const FIELDS_MAX = 300
const LEVELS_MAX = 8

/** Whether a form can have a field for every part of the schema; otherwise its value is written as JSON. */
export function fitsFields(schema: FormSchema): boolean {
  const open: { readonly part: unknown; readonly level: number }[] = [{ part: schema, level: 0 }]
  let fields = 0
  for (let next = open.pop(); next; next = open.pop()) {
    const { part, level } = next
    if (!isRecord(part)) continue
    if (level > LEVELS_MAX) return false
    const inside = isRecord(part['properties']) ? Object.values(part['properties']) : []
    fields += inside.length
    if (fields > FIELDS_MAX) return false
    for (const each of [...inside, part['items']]) open.push({ part: each, level: level + 1 })
  }
  return true
}

/** undefined: a value of any type, or of several. */
function typeOf({ type }: FormSchema): string | undefined {
  if (!Array.isArray(type)) return type as string | undefined
  const [first, ...others] = (type as readonly string[]).filter((each) => each !== 'null')
  return others.length === 0 ? first : undefined
}

export function kindOf(schema: FormSchema): FieldKind {
  if (Array.isArray(schema.enum)) return 'choice'
  const type = typeOf(schema)
  // The server takes a secret by its format alone.
  if (schema.format === 'password' && type === undefined) return 'secret'
  if (type === 'boolean') return 'flag'
  if (type === 'number' || type === 'integer') return 'number'
  if (type === 'string') return kindOfText(schema)
  if (type === 'object' && schema.properties) return 'group'
  const isSimple = schema.items && !['json', 'list'].includes(kindOf(schema.items))
  return type === 'array' && isSimple ? 'list' : 'json'
}

const textKinds: ReadonlyMap<string, FieldKind> = new Map([
  ['password', 'secret'],
  ['date', 'date'],
  ['date-time', 'time'],
])
const kindOfText = ({ format = '' }: FormSchema): FieldKind => textKinds.get(format) ?? 'text'

export const labelOf = (name: string, { title }: FormSchema): string => title ?? name

/** The fields of an object, in the order of the schema. */
export const fieldsOf = (
  schema: FormSchema,
): readonly {
  readonly name: string
  readonly schema: FormSchema
  readonly isRequired: boolean
}[] =>
  Object.entries(schema.properties ?? {}).map(([name, own]) => ({
    name,
    // `true` is a schema, too.
    schema: isRecord(own) ? own : {},
    isRequired: schema.required?.includes(name) ?? false,
  }))

type DraftMaker = (schema: FormSchema, value: unknown) => FormDraft

const textDraft: DraftMaker = (_schema, value) =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : ''

const drafts: Readonly<Record<FieldKind, DraftMaker>> = {
  text: textDraft,
  secret: textDraft,
  number: textDraft,
  date: textDraft,
  time: (_schema, value) => (typeof value === 'string' ? localTime(value) : ''),
  flag: (_schema, value) => value === true,
  choice: (_schema, value) => (value === undefined ? '' : JSON.stringify(value)),
  json: (_schema, value) => (value === undefined ? '' : JSON.stringify(value, undefined, 2)),
  list: ({ items = {} }, value) =>
    Array.isArray(value) ? value.map((each) => draftOf(items, each)) : [],
  group: (schema, value) => {
    const values = isRecord(value) ? value : {}
    return Object.fromEntries(
      fieldsOf(schema).map(({ name, schema: own }) => [name, draftOf(own, ownValue(values, name))]),
    )
  },
}

/** The draft of a value; without a value, of the default. */
export const draftOf = (schema: FormSchema, given?: unknown): FormDraft =>
  drafts[kindOf(schema)](schema, given === undefined ? schema.default : given)

/** An input of the browser takes a local time without a zone. */
function localTime(value: string): string {
  const at = new Date(value)
  if (Number.isNaN(at.getTime())) return ''
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

/** The value of a draft, and what is wrong with it. */
export function readDraft(schema: FormSchema, draft: FormDraft): FormResult {
  const errors = new Map<string, string>()
  const value = readField({ schema, draft, path: '', isRequired: true, errors })
  return { value: value ?? {}, errors }
}

interface ReadField {
  readonly schema: FormSchema
  readonly draft: FormDraft
  readonly path: string
  readonly isRequired: boolean
  readonly errors: Map<string, string>
}

/** undefined: the field is empty, and left out. */
function readField(field: ReadField): unknown {
  const { schema, draft, path, isRequired, errors } = field
  const kind = kindOf(schema)
  if (kind === 'group') return isRequired ? readGroup(field) : readOptionalGroup(field)
  if (kind === 'list') return readList(field)
  if (kind === 'flag') return draft === true
  const text = typeof draft === 'string' ? draft : ''
  if (text.trim() === '') {
    if (!isRequired) return undefined
    if (schema.type?.includes('null')) return null
    errors.set(path, 'This field is required')
    return undefined
  }
  const { value, error } = readText(schema, kind, text)
  if (error !== undefined) errors.set(path, error)
  return value
}

/** An object that may be missing is missing while nothing is typed in it and its own fields are required. */
function readOptionalGroup(field: ReadField): unknown {
  const errors = new Map<string, string>()
  const value = readGroup({ ...field, errors })
  if (errors.size > 0 && isBlank(field.draft)) return undefined
  for (const [path, error] of errors) field.errors.set(path, error)
  return value
}

const isBlank = (draft: FormDraft): boolean =>
  typeof draft === 'object' ? Object.values(draft).every(isBlank) : draft === '' || draft === false

function readGroup({ schema, draft, path, errors }: ReadField): unknown {
  const inside = (isRecord(draft) ? draft : {}) as Readonly<Record<string, FormDraft>>
  const entries = fieldsOf(schema).flatMap(({ name, schema: own, isRequired }) => {
    const value = readField({
      schema: own,
      draft: ownValue(inside, name) ?? draftOf(own),
      path: `${path}/${name}`,
      isRequired,
      errors,
    })
    return value === undefined ? [] : [[name, value] as const]
  })
  return Object.fromEntries(entries)
}

function readList({ schema, draft, path, isRequired, errors }: ReadField): unknown {
  const items = Array.isArray(draft) ? (draft as readonly FormDraft[]) : []
  if (items.length === 0 && !isRequired) return undefined
  const { minItems = 0, maxItems = Number.POSITIVE_INFINITY } = schema
  if (items.length < minItems) errors.set(path, `Add at least ${minItems}`)
  if (items.length > maxItems) errors.set(path, `Remove some: at most ${maxItems} are allowed`)
  return items.map((each, at) =>
    readField({
      schema: schema.items ?? {},
      draft: each,
      path: `${path}/${at}`,
      isRequired: true,
      errors,
    }),
  )
}

interface ReadText {
  readonly value?: unknown
  readonly error?: string | undefined
}

function readText(schema: FormSchema, kind: FieldKind, text: string): ReadText {
  if (kind === 'number') return readNumber(schema, text)
  if (kind === 'time') {
    const at = new Date(text)
    if (Number.isNaN(at.getTime())) return { error: 'Enter a date and a time' }
    return { value: at.toISOString() }
  }
  if (kind === 'choice' || kind === 'json') {
    try {
      return { value: JSON.parse(text) as unknown }
    } catch {
      return { error: 'Enter valid JSON' }
    }
  }
  return { value: text, error: wrongText(schema, text) }
}

function readNumber(schema: FormSchema, text: string): ReadText {
  const value = Number(text)
  if (!Number.isFinite(value)) return { error: 'Enter a number' }
  if (typeOf(schema) === 'integer' && !Number.isInteger(value)) {
    return { error: 'Enter a whole number' }
  }
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema
  const checks: readonly (readonly [boolean, string])[] = [
    [minimum !== undefined && value < minimum, `The smallest value is ${minimum}`],
    [maximum !== undefined && value > maximum, `The largest value is ${maximum}`],
    [
      exclusiveMinimum !== undefined && value <= exclusiveMinimum,
      `Must be above ${exclusiveMinimum}`,
    ],
    [
      exclusiveMaximum !== undefined && value >= exclusiveMaximum,
      `Must be below ${exclusiveMaximum}`,
    ],
    [
      multipleOf !== undefined && !isMultiple(value, multipleOf),
      `Must be a multiple of ${multipleOf}`,
    ],
  ]
  return { value, error: checks.find(([isWrong]) => isWrong)?.[1] }
}

/** 0.3 counts as a multiple of 0.1, as at the server: the quotient is whole except for rounding. */
function isMultiple(value: number, of: number): boolean {
  const times = value / of
  return Math.abs(times - Math.round(times)) <= 1e-9 * Math.max(1, Math.abs(times))
}

/** A pattern is left to the server: it matches in linear time, and a browser's engine could hang on a pattern of another user. */
function wrongText({ minLength = 0, maxLength }: FormSchema, text: string) {
  // As JSON Schema counts them.
  const { length } = Array.from(text)
  if (length < minLength) return `Enter at least ${minLength} characters`
  if (maxLength !== undefined && length > maxLength) return `Enter at most ${maxLength} characters`
  return undefined
}
