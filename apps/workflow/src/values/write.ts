import type { Parameter, ParameterValue } from '@skerry/serverless-workflow'
import { carried, element, type Element } from '@skerry/xml'

/** `{"string": {"value": "John"}}` as an element of that name. */
function valueElement(value: ParameterValue | null): Element {
  if (value === null) return element('null')
  if ('array' in value) return element('array', {}, ...value.array.elements.map(valueElement))
  if ('properties' in value) {
    const { property } = value.properties
    return element(
      'properties',
      {},
      ...property.map((each) =>
        element('property', { key: carried(each.key) }, valueElement(each.value)),
      ),
    )
  }
  if ('composite' in value) {
    const { type, property } = value.composite
    return element(
      'composite',
      { type: carried(type) },
      ...property.map((each) =>
        element('property', { id: carried(each.id) }, valueElement(each.value)),
      ),
    )
  }
  const [[kind, inside] = ['null', { value: '' }]] = Object.entries(value)
  return element(kind, {}, carried(String(inside.value)))
}

export const parameterElement = ({ name, type, description, scope, value }: Parameter): Element =>
  element(
    'parameter',
    {
      name: carried(name),
      type: carried(type),
      scope,
      description: description === undefined ? undefined : carried(description),
    },
    value === undefined || value === null ? undefined : valueElement(value),
  )
