import { Fault } from '@skerry/fault'
import {
  childrenByLocalName,
  element,
  localName,
  text,
  withReplacements,
  type Element,
} from '@skerry/xml'

import { metadataTypes, type MetadataType } from '../database/tables.ts'
import type { MetadataEntry } from '../inventory/metadata.ts'
import { readRoot } from './named.ts'
import type { RequestDocument } from './request-document.ts'

const KEY_MAX = 256
const VALUE_MAX = 16 * 1024

const lexical: Readonly<Record<MetadataType, RegExp>> = {
  String: /^[^]*$/,
  Number: /^-?\d{1,18}$/,
  Boolean: /^(true|false)$/,
  DateTime: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)?$/,
}

/** Checks a key from a body or a path. */
export function checkKey(key: string): string {
  if (
    key.length < 1 ||
    key.length > KEY_MAX ||
    /\p{Cc}/u.test(key) ||
    withReplacements(key) !== key
  ) {
    throw new Fault(
      'invalid',
      `a key must have 1 to ${KEY_MAX} characters and no control characters`,
    )
  }
  return key
}

type Valued = Pick<MetadataEntry, 'type' | 'value'>

/** Value, or since 5.1 TypedValue with its type in xsi:type. */
function valueIn(node: Element): Valued {
  const [domain] = childrenByLocalName(node, 'Domain')
  if (domain && text(domain)?.trim() !== 'GENERAL') {
    throw new Fault('invalid', 'Domain must be GENERAL')
  }
  const [typed] = childrenByLocalName(node, 'TypedValue')
  const [plain] = childrenByLocalName(typed ?? node, 'Value')
  if (!plain) throw new Fault('invalid', 'an entry must have a Value or a TypedValue')
  const type = typed === undefined ? 'String' : typeOf(typed)
  const value = text(plain) ?? ''
  if (value.length > VALUE_MAX || !lexical[type].test(value)) {
    throw new Fault(
      'invalid',
      `expected a value of the type ${type} with at most ${VALUE_MAX} characters`,
    )
  }
  return { type, value }
}

function typeOf(typed: Element): MetadataType {
  const typeName = Object.entries(typed.attributes).find(
    ([name]) => localName(name) === 'type',
  )?.[1]
  const found = metadataTypes.find((each) => localName(typeName ?? '') === `Metadata${each}Value`)
  if (found) return found
  const all = metadataTypes.map((each) => `Metadata${each}Value`).join(', ')
  throw new Fault('invalid', `xsi:type must be one of ${all}`)
}

export const metadataParams: RequestDocument<readonly MetadataEntry[]> = {
  media: 'metadata',
  shape: 'Metadata',
  example: () => {
    const xsi = 'http://www.w3.org/2001/XMLSchema-instance'
    const racks = element(
      'TypedValue',
      { 'xsi:type': 'MetadataNumberValue' },
      element('Value', {}, '7'),
    )
    return element(
      'Metadata',
      { 'xmlns:xsi': xsi },
      element('MetadataEntry', {}, element('Key', {}, 'owner'), element('Value', {}, 'alice')),
      element('MetadataEntry', {}, element('Key', {}, 'racks'), racks),
    )
  },
  read(raw) {
    const root = readRoot(raw, 'Metadata')
    return childrenByLocalName(root, 'MetadataEntry').map((entry) => {
      const [key] = childrenByLocalName(entry, 'Key')
      return { key: checkKey(text(key) ?? ''), ...valueIn(entry) }
    })
  },
}

export const metadataValueParams: RequestDocument<Valued> = {
  media: 'metadata.value',
  shape: 'MetadataValue',
  example: () => element('MetadataValue', {}, element('Value', {}, 'red')),
  read: (raw) => valueIn(readRoot(raw, 'MetadataValue')),
}
