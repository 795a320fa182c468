import { Fault } from '@skerry/fault'
import { fieldsOf, type Field } from '@skerry/serverless-workflow'
import { element, type Element } from '@skerry/xml'

import type { RunValues } from '../store/database.ts'

const isStructured = ({ schema }: Field): boolean =>
  schema['type'] === 'object' || schema['type'] === 'array' || schema['type'] === undefined

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value) ?? '')

/** An HTML form generated from its JSON Schema. */
export function formOf(
  schema: RunValues | null,
  { action, button, id }: Readonly<{ action: string; button: string; id: string }>,
): Element {
  return element(
    'form',
    { method: 'post', action, id, class: 'fields' },
    ...fieldsOf(schema ?? undefined).map((field) => row(field, id)),
    element('button', { type: 'submit' }, button),
  )
}

function row(field: Field, form: string): Element {
  const { name, schema, required } = field
  const id = `${form}-${name}`
  const described = typeof schema['description'] === 'string' ? schema['description'] : undefined
  const title = typeof schema['title'] === 'string' ? schema['title'] : name
  const named = { id, name, 'aria-describedby': described && `${id}-d` }
  const label = element(
    'label',
    { for: id },
    title,
    required && element('span', { class: 'quiet' }, ' (required)'),
  )
  const hint = described && element('span', { class: 'hint', id: `${id}-d` }, described)
  // A checkbox precedes its label.
  return isTick(field)
    ? element('p', { class: 'field tick' }, control(field, named), label, hint)
    : element('p', { class: 'field' }, label, control(field, named), hint)
}

const isTick = ({ schema }: Field): boolean =>
  schema['type'] === 'boolean' && !Array.isArray(schema['enum'])

type FieldAttributes = Readonly<Record<'id' | 'name', string>> & {
  readonly 'aria-describedby': string | undefined
}

function control(field: Field, named: FieldAttributes): Element {
  const { schema, required, secret } = field
  const must = required ? { required: 'required' } : {}
  const preset = schema['default']
  const value = preset === undefined ? undefined : textOf(preset)
  if (Array.isArray(schema['enum'])) return choice(schema['enum'], preset, { ...named, ...must })
  if (isTick(field)) {
    const checked = preset === true ? { checked: 'checked' } : {}
    return element('input', { ...named, type: 'checkbox', value: 'true', ...checked })
  }
  if (isStructured(field)) {
    return element('textarea', { ...named, ...must, rows: 3, placeholder: 'JSON' }, value ?? '')
  }
  const isNumber = schema['type'] === 'number' || schema['type'] === 'integer'
  const type = secret ? 'password' : isNumber ? 'number' : 'text'
  const step = isNumber ? { step: schema['type'] === 'integer' ? '1' : 'any' } : {}
  const secretly = secret ? { autocomplete: 'off' } : { value }
  return element('input', { ...named, ...must, type, ...step, ...secretly })
}

function choice(
  values: readonly unknown[],
  preset: unknown,
  attributes: Readonly<Record<string, string | undefined>>,
): Element {
  return element(
    'select',
    attributes,
    ...values.map((each) =>
      element(
        'option',
        { value: textOf(each), ...(each === preset && { selected: 'selected' }) },
        textOf(each),
      ),
    ),
  )
}

/** Parses a submitted form according to the schema. Empty fields are left out. */
export function readFilled(schema: RunValues | null, body: string): RunValues {
  const sent = new URLSearchParams(body)
  const found: Record<string, unknown> = {}
  for (const field of fieldsOf(schema ?? undefined)) {
    const { name, schema: own } = field
    const text = sent.get(name)
    if (own['type'] === 'boolean') found[name] = text !== null
    else if (text !== null && text !== '') found[name] = valueOf(field, text)
  }
  return found
}

function valueOf(field: Field, text: string): unknown {
  const { name, schema } = field
  if (Array.isArray(schema['enum'])) {
    return schema['enum'].find((each) => textOf(each) === text) ?? text
  }
  if (schema['type'] === 'number' || schema['type'] === 'integer') return Number(text)
  if (!isStructured(field)) return text
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new Fault('invalid', `${name} must be JSON`, { cause })
  }
}
