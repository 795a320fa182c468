import type { Evaluator, Json } from '@skerry/jq'

import { isMapping } from '../definition/schema-words.ts'
import { unescapePointer } from '../definition/task.ts'

/** A validation error of one form field. */
export interface FieldComplaint {
  readonly field: string
  readonly message: string
}

export type FormValues = Readonly<Record<string, unknown>>
export type CheckedInputs =
  | { readonly value: FormValues }
  | { readonly complaints: readonly FieldComplaint[] }

/** A form field: a property of an object schema, in order. */
export interface Field {
  readonly name: string
  readonly schema: FormValues
  readonly required: boolean
  /** Stored sealed and never returned. */
  readonly secret: boolean
}

export function fieldsOf(schema: object | undefined): Field[] {
  const { properties, required } = (schema ?? {}) as FormValues
  const must: readonly unknown[] = Array.isArray(required) ? required : []
  return Object.entries(isMapping(properties) ? properties : {}).map(([name, each]) => {
    const own = isMapping(each) ? each : {}
    return {
      name,
      schema: own,
      required: must.includes(name),
      secret: own['format'] === 'password',
    }
  })
}

/** Validates a value against a schema in a thread with limits, as the schemas of tasks. */
export type FindInvalid = Evaluator['findInvalid']

/** Returns the value of a form (the input of a run, or the answer to an interaction) with defaults filled in, or the errors of each field. */
export async function checkForm(
  schema: object | undefined,
  value: unknown,
  findInvalid: FindInvalid,
): Promise<CheckedInputs> {
  if (!isMapping(value)) return { complaints: [{ field: '', message: 'expected an object' }] }
  const filled: Record<string, unknown> = { ...value }
  for (const { name, schema: own } of fieldsOf(schema))
    if (!Object.hasOwn(filled, name) && 'default' in own) filled[name] = own['default']
  const wrong = schema === undefined ? [] : await findInvalid(schema, filled as Json)
  if (wrong.length === 0) return { value: filled }
  return {
    complaints: wrong.map(({ at, message }) => {
      const [field = '', ...inner] = at.split('/').slice(1)
      const where = inner.length > 0 ? `at /${inner.join('/')}: ` : ''
      return { field: unescapePointer(field), message: `${where}${message}` }
    }),
  }
}
