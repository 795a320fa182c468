// Which inputs of a form are secret (`format: password`). In doubt an input counts as secret: a line for a terminal is copied, and stays in
// its history.
import type { FormSchema } from './schema-form.ts'

interface SecretMarks {
  readonly hasSecret: boolean
  /** It names a schema elsewhere in the form. */
  readonly hasReference: boolean
}

/** A form may be large, and a page asks at every key. */
const known = new WeakMap<object, SecretMarks>()

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

/** Looks at every part of a schema: a secret may be inside an object, a list or a choice of schemas. */
function marksOf(schema: object): SecretMarks {
  const before = known.get(schema)
  if (before) return before
  let hasSecret = false
  let hasReference = false
  const open: object[] = [schema]
  for (let part = open.pop(); part; part = open.pop()) {
    for (const [name, value] of Object.entries(part) as [string, unknown][]) {
      if (name === 'format' && value === 'password') hasSecret = true
      if (name.endsWith('$ref') || name === '$dynamicRef') hasReference = true
      if (isObject(value)) open.push(value)
    }
  }
  const marks = { hasSecret, hasReference }
  known.set(schema, marks)
  return marks
}

export const hasSecrets = (form: FormSchema): boolean => marksOf(form).hasSecret

/** Whether the input is a secret or contains one. */
export function isSecretInput(form: FormSchema, name: string): boolean {
  if (!hasSecrets(form)) return false
  const { properties = {} } = form
  const own: unknown = Object.hasOwn(properties, name) ? properties[name] : undefined
  if (!isObject(own)) return true
  const { hasSecret, hasReference } = marksOf(own)
  return hasSecret || hasReference
}
