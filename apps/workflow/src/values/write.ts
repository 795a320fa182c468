import type { Parameter, ParameterValue } from '@skerry/serverless-workflow'
import { withReplacements, element, type Element } from '@skerry/xml'

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
        element('property', { key: withReplacements(each.key) }, valueElement(each.value)),
      ),
    )
  }
  if ('composite' in value) {
    const { type, property } = value.composite
    return element(
      'composite',
      { type: withReplacements(type) },
      ...property.map((each) =>
        element('property', { id: withReplacements(each.id) }, valueElement(each.value)),
      ),
    )
  }
  const [[kind, inside] = ['null', { value: '' }]] = Object.entries(value)
  return element(kind, {}, withReplacements(String(inside.value)))
}

export const parameterElement = ({ name, type, description, scope, value }: Parameter): Element =>
  element(
    'parameter',
    {
      name: withReplacements(name),
      type: withReplacements(type),
      scope,
      description: description === undefined ? undefined : withReplacements(description),
    },
    value === undefined || value === null ? undefined : valueElement(value),
  )
