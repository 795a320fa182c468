import { checkValue } from './check-value.ts'
import type { Definition } from './definition.ts'
import { isMapping } from './schema-words.ts'

/** What is wrong with one field of a form. */
export interface FieldComplaint {
  readonly field: string
  readonly message: string
}

export type Values = Readonly<Record<string, unknown>>
export type CheckedInputs =
  | { readonly value: Values }
  | { readonly complaints: readonly FieldComplaint[] }

/** The fields of a form: the properties of an object's schema, in their order. */
export interface Field {
  readonly name: string
  readonly schema: Values
  readonly required: boolean
  /** Kept sealed, never shown again. */
  readonly secret: boolean
}

export function fieldsOf(schema: object | undefined): Field[] {
  const { properties, required } = (schema ?? {}) as Values
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

/** The values that a run starts with, defaults filled in, or what is wrong with each field. */
export const checkInputs = (definition: Definition, value: unknown): CheckedInputs =>
  checkForm(definition.input, value)

/** The same for the answer to an interaction, by its form. */
export function checkForm(schema: object | undefined, value: unknown): CheckedInputs {
  if (!isMapping(value)) return { complaints: [{ field: '', message: 'expected an object' }] }
  const filled: Record<string, unknown> = { ...value }
  for (const { name, schema: own } of fieldsOf(schema))
    if (!Object.hasOwn(filled, name) && 'default' in own) filled[name] = own['default']
  const wrong = checkValue(schema ?? true, filled)
  if (wrong.length === 0) return { value: filled }
  return {
    complaints: wrong.map(({ at, message }) => {
      const [field = '', ...inner] = at.split('/').slice(1)
      const where = inner.length > 0 ? `at /${inner.join('/')}: ` : ''
      return { field: unescapePointer(field), message: `${where}${message}` }
    }),
  }
}

const unescapePointer = (step: string): string => step.replaceAll('~1', '/').replaceAll('~0', '~')
