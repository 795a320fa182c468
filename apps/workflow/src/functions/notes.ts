// Metadata of a VM or a vApp.
import { metadataIn } from '@skerry/cloud-client'
import { Type } from '@skerry/schema'
import { element, type Element } from '@skerry/xml'

import { carryOut, closed, cloudFunction, hrefOf, reference } from './function.ts'
import { Metadata } from './shapes.ts'

type Kind = 'vm' | 'vapp'
type Value = string | number | boolean

const XSI = 'http://www.w3.org/2001/XMLSchema-instance'
const typeOf = (value: Value): string =>
  ({ string: 'String', number: 'Number', boolean: 'Boolean' })[
    typeof value as 'string' | 'number' | 'boolean'
  ]

const entry = ([key, value]: readonly [string, Value]): Element =>
  element(
    'MetadataEntry',
    {},
    element('Key', {}, key),
    element(
      'TypedValue',
      { 'xmlns:xsi': XSI, 'xsi:type': `Metadata${typeOf(value)}Value` },
      element('Value', {}, String(value)),
    ),
  )

const metadataFunctions = (kind: Kind) => {
  const hrefIn = (input: unknown) =>
    `${hrefOf(kind, (input as { [kind in Kind]?: string })[kind] ?? '')}/metadata`
  const resource = kind === 'vm' ? 'VM' : 'vApp'
  return {
    getMetadata: cloudFunction({
      input: Type.Object({ [kind]: reference(kind) }, closed),
      output: Metadata,
      doc: `Returns the metadata of the ${resource} by key.`,
      call: async ({ cloud, context }, input) =>
        metadataIn(await cloud.get(hrefIn(input), context.signal)),
    }),
    setMetadata: cloudFunction({
      input: Type.Object({ [kind]: reference(kind), metadata: Metadata }, closed),
      output: Metadata,
      doc: `Sets metadata of the ${resource}: existing keys get the new value, other keys are kept.`,
      async call(calling, input) {
        const { metadata } = input as unknown as { metadata: Readonly<Record<string, Value>> }
        const body = element('Metadata', {}, ...Object.entries(metadata).map(entry))
        await carryOut(calling, 'POST', hrefIn(input), body)
        return metadataIn(await calling.cloud.get(hrefIn(input), calling.context.signal))
      },
    }),
    removeMetadata: cloudFunction({
      input: Type.Object(
        { [kind]: reference(kind), key: Type.String({ minLength: 1, maxLength: 256 }) },
        closed,
      ),
      output: Metadata,
      doc: `Removes one metadata key of the ${resource}.`,
      async call(calling, input) {
        const { key } = input as { key?: string }
        await carryOut(calling, 'DELETE', `${hrefIn(input)}/${encodeURIComponent(key ?? '')}`)
        return metadataIn(await calling.cloud.get(hrefIn(input), calling.context.signal))
      },
    }),
  }
}

export const notesOfVm = metadataFunctions('vm')
export const notesOfVapp = metadataFunctions('vapp')
