import { element } from '@skerry/xml'

import { parametersOf, toParameters, type Parameter } from '../definition/parameters.ts'
import type { Values } from '../store/database.ts'
import { parameterElement } from '../values/write.ts'
import type { Part } from './document.ts'

type Name = 'input-parameters' | 'output-parameters'

const part = (name: Name, all: readonly Parameter[]): Part => ({
  name,
  json: all,
  xml: element(name, {}, ...all.map(parameterElement)),
})

/** What is asked for. */
export const asked = (name: Name, form: Values | null | undefined): Part =>
  part(name, parametersOf(form ?? undefined))

/** What was given, or came out. Secrets are named, never told. */
export const given = (name: Name, form: Values | null, values: unknown): Part =>
  part(name, toParameters(form ?? undefined, named(values)))

/** A run may end in anything; what has no names of its own is called output. */
const named = (values: unknown): Values => {
  if (values === null || values === undefined) return {}
  return typeof values === 'object' && !Array.isArray(values) ? { ...values } : { output: values }
}
