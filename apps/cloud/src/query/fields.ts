import { Fault } from '@skerry/fault'

import type { Version } from '../dialect/version.ts'
import type { Attribute } from './attribute.ts'
import type { RecordType } from './record-types.ts'

/** Attributes by name. */
export type Fields = ReadonlyMap<string, Attribute>

/** The attributes that this version of the API shows. */
export const fieldsAt = ({ fields }: RecordType, version: Version): Fields =>
  new Map(
    Object.entries(fields).filter(([, { since = '1.5' }]) => Number(since) <= Number(version)),
  )

/** `where`: its position in the request, for the message. */
export function attributeNamed(
  { name: type }: RecordType,
  known: Fields,
  name: string,
  where = '',
): Attribute {
  const attribute = known.get(name)
  if (attribute) return attribute
  const all = [...known.keys()].join(', ')
  throw new Fault('invalid', `${where}${type} has no attribute ${name}; it has ${all}`)
}
