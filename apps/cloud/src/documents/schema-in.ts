import { element, renderElement } from '@skerry/xml'

import { ours, type Dialect } from '../http/dialect.ts'

const INCLUDE = /<xs:include schemaLocation="([a-z]+\.xsd)"\/>/g

/**
 * A file of the schema as a dialect's documents have it. The files are written with our own names; a file that is of another
 * namespace than the one that includes it is imported there.
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
