import { Fault } from '@skerry/fault'
import { attribute, children, localName, readXml, text, type Element } from '@skerry/xml'

import { fromParameters } from '../definition/parameters.ts'
import type { Values } from '../store/database.ts'

/** What a run or an answer is given: parameters as clients of this family write them, or plain values. */
export type Context = { readonly parameters: readonly unknown[] } | { readonly input: Values }

/** An execution context in XML or JSON, whichever it is; an empty one gives nothing. */
export function readContext(raw: string | Element): Context {
  if (typeof raw !== 'string') return fromXml(raw)
  const body = raw.trim()
  if (body === '') return { parameters: [] }
  return body.startsWith('<') ? fromXml(readXml(body)) : fromJson(parse(body))
}

/** The values by their names. What they must be is checked afterwards. */
export function valuesOf(form: Values | null, context: Context): Values {
  if ('input' in context) return context.input
  const found = fromParameters(form ?? undefined, context.parameters)
  if ('value' in found) return found.value
  const told = found.complaints.map(({ field, message }) =>
    field === '' ? message : `${field}: ${message}`,
  )
  throw new Fault('invalid', `the parameters cannot be read: ${told.join('; ')}`, {
    hint: 'in JSON a value is {"string": {"value": "John"}}, in XML an element named after its type',
  })
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch (cause) {
    throw new Fault('invalid', 'the body must be an execution-context, in XML or JSON', { cause })
  }
}

function fromJson(context: unknown): Context {
  if (!isObject(context)) throw new Fault('invalid', 'an execution-context is an object')
  const { parameters, input, 'execution-context': inner, ...others } = context
  const [other] = Object.keys(others)
  if (isObject(inner)) return fromJson(inner)
  // Of ours, for people who type: {"input": {"name": "John"}}.
  if (isObject(input)) return { input }
  if (other !== undefined && parameters === undefined) {
    throw new Fault('invalid', `parameters or input was expected, not ${other}`)
  }
  return { parameters: [parameters ?? []].flat() }
}

function fromXml(root: Element): Context {
  if (localName(root.name) !== 'execution-context') {
    throw new Fault('invalid', `an execution-context was expected, not ${localName(root.name)}`)
  }
  const all = below(root, 'parameters').flatMap((each) => below(each, 'parameter'))
  return {
    parameters: all.map((each) => ({
      ...{ name: attribute(each, 'name'), type: attribute(each, 'type') },
      value: valueOf(children(each)[0]),
    })),
  }
}

/** As it would be in JSON: what it means is said in one place. */
function valueOf(node: Element | undefined): unknown {
  if (!node || localName(node.name) === 'null') return null
  const kind = localName(node.name)
  if (kind === 'array') {
    const elements = below(node, 'elements')
    const inside = elements.length > 0 ? elements.flatMap((each) => children(each)) : children(node)
    return { array: { elements: inside.map(valueOf) } }
  }
  if (kind === 'properties' || kind === 'composite') {
    const name = kind === 'properties' ? 'key' : 'id'
    const property = below(node, 'property').map((each) => ({
      ...{ [name]: attribute(each, name), value: valueOf(children(each)[0]) },
    }))
    return { [kind]: { property } }
  }
  return { [kind]: { value: text(node) ?? '' } }
}

const below = (node: Element, name: string): Element[] =>
  children(node).filter((each) => localName(each.name) === name)

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
