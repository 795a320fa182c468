import { Fault } from '@skerry/fault'
import { fromParameters } from '@skerry/serverless-workflow'
import { attribute, children, localName, readXml, text, type Element } from '@skerry/xml'

import type { RunValues } from '../store/database.ts'

/** The input of a run or an answer: typed parameters as clients of this API write them, or plain values. */
export type Context = { readonly parameters: readonly unknown[] } | { readonly input: RunValues }

/** Parses an execution context in XML or JSON; an empty one has no parameters. */
export function readContext(raw: string | Element): Context {
  if (typeof raw !== 'string') return fromXml(raw)
  const body = raw.trim()
  if (body === '') return { parameters: [] }
  return body.startsWith('<') ? fromXml(readXml(body)) : fromJson(parse(body))
}

/** The values by name. They are validated afterwards. */
export function valuesOf(form: RunValues | null, context: Context): RunValues {
  if ('input' in context) return context.input
  const found = fromParameters(form ?? undefined, context.parameters)
  if ('value' in found) return found.value
  const reasons = found.complaints.map(({ field, message }) =>
    field === '' ? message : `${field}: ${message}`,
  )
  throw new Fault('invalid', `invalid parameters: ${reasons.join('; ')}`, {
    hint: 'in JSON a value is {"string": {"value": "John"}}, in XML an element named after its type',
  })
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch (cause) {
    throw new Fault('invalid', 'the body must be an execution-context in XML or JSON', { cause })
  }
}

function fromJson(context: unknown): Context {
  if (!isObject(context)) throw new Fault('invalid', 'an execution-context must be an object')
  const { parameters, input, 'execution-context': inner, ...others } = context
  const [other] = Object.keys(others)
  if (isObject(inner)) return fromJson(inner)
  // Our own short form for manual use: {"input": {"name": "John"}}.
  if (isObject(input)) return { input }
  if (other !== undefined && parameters === undefined) {
    throw new Fault('invalid', `expected parameters or input, not ${other}`)
  }
  return { parameters: [parameters ?? []].flat() }
}

function fromXml(root: Element): Context {
  if (localName(root.name) !== 'execution-context') {
    throw new Fault('invalid', `expected an execution-context, not ${localName(root.name)}`)
  }
  const all = childrenNamed(root, 'parameters').flatMap((each) => childrenNamed(each, 'parameter'))
  return {
    parameters: all.map((each) => ({
      name: attribute(each, 'name'),
      type: attribute(each, 'type'),
      value: valueOf(children(each)[0]),
    })),
  }
}

/** Converts to the JSON form, so that values are interpreted in one place. */
function valueOf(node: Element | undefined): unknown {
  if (!node || localName(node.name) === 'null') return null
  const kind = localName(node.name)
  if (kind === 'array') {
    const elements = childrenNamed(node, 'elements')
    const inside = elements.length > 0 ? elements.flatMap((each) => children(each)) : children(node)
    return { array: { elements: inside.map(valueOf) } }
  }
  if (kind === 'properties' || kind === 'composite') {
    const name = kind === 'properties' ? 'key' : 'id'
    const property = childrenNamed(node, 'property').map((each) => ({
      [name]: attribute(each, name),
      value: valueOf(children(each)[0]),
    }))
    return { [kind]: { property } }
  }
  return { [kind]: { value: text(node) ?? '' } }
}

const childrenNamed = (node: Element, name: string): Element[] =>
  children(node).filter((each) => localName(each.name) === name)

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
