import { element, renderElement } from '@skerry/xml'

import { ours, type Dialect } from '../dialect/dialect.ts'

const INCLUDE = /<xs:include schemaLocation="([a-z]+\.xsd)"\/>/g

/**
 * A schema file in the namespaces of a dialect. The files are written with our own names; an included file of another namespace
 * is imported instead.
 */
export function schemaIn({ namespace, urn }: Dialect, file: string, text: string): string {
  const of = (name: string) => namespace(name.replace('.xsd', ''))
  return text
    .replaceAll(INCLUDE, (include, included: string) =>
      of(included) === of(file)
        ? include
        : renderElement(
            element('xs:import', { namespace: of(included), schemaLocation: included }),
          ),
    )
    .replaceAll(`"${ours.namespace(file)}"`, `"${of(file)}"`)
    .replaceAll(ours.urn('vm', 'UUID'), urn('vm', 'UUID'))
}
