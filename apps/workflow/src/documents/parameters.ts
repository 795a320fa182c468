import { parametersOf, toParameters, type Parameter } from '@skerry/serverless-workflow'
import { element, withReplacements } from '@skerry/xml'

import type { RunValues } from '../store/database.ts'
import { parameterElement } from '../values/write.ts'
import type { DocumentPart } from './document.ts'

type Name = 'input-parameters' | 'output-parameters'

const parameterPart = (name: Name, all: readonly Parameter[]): DocumentPart => ({
  name,
  json: all,
  xml: element(name, {}, ...all.map(parameterElement)),
})

/** Declared parameters, without values. */
export const declaredParameters = (name: Name, form: RunValues | null | undefined): DocumentPart =>
  parameterPart(name, parametersOf(form ?? undefined))

/** The JSON Schema of a form: an object in JSON, its text in XML. */
export const formPart = (form: RunValues | null): DocumentPart => ({
  name: 'form',
  json: form ?? {},
  xml: element('form', {}, withReplacements(JSON.stringify(form ?? {}))),
})

/** Parameters with their values. A secret has its name but an empty value. */
export const parameterValues = (
  name: Name,
  form: RunValues | null,
  values: unknown,
): DocumentPart => parameterPart(name, toParameters(form ?? undefined, namedValues(values)))

/** The output of a run may be any value; one without names is called output. */
const namedValues = (values: unknown): RunValues => {
  if (values === null || values === undefined) return {}
  return typeof values === 'object' && !Array.isArray(values) ? { ...values } : { output: values }
}
