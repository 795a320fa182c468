import { localName } from './navigate.ts'

// What an element contains, by its schema. From it a document can be written as JSON, read from JSON, and described as JSON Schema.

/** The text of an attribute or of an element without attributes. */
export interface TextShape {
  readonly kind: 'string' | 'integer' | 'boolean' | 'dateTime' | 'uri' | 'mediaType'
  readonly enum?: readonly string[]
  readonly pattern?: string
  readonly minLength?: number
  readonly maxLength?: number
  /** Of an integer; xs:long goes beyond what a number holds exactly. */
  readonly minimum?: bigint
  readonly maximum?: bigint
  /** Whether the element may have no value: xsi:nil, in JSON null. */
  readonly isNillable?: boolean
}

export interface AttributeShape {
  /** As written in XML, with its prefix. */
  readonly name: string
  /** As written in JSON. */
  readonly key: string
  readonly type: TextShape
  readonly isRequired: boolean
  readonly doc: string | undefined
}

export interface ChildShape {
  readonly name: string
  readonly key: string
  readonly type: ElementShape
  /** Whether it can occur more than once: then it is an array in JSON, also with one item or none. */
  readonly isList: boolean
  readonly isRequired: boolean
  readonly doc: string | undefined
}

/** An element with attributes or children. */
export interface ObjectShape {
  /** Unique in the schema. */
  readonly name: string
  readonly doc: string | undefined
  readonly attributes: readonly AttributeShape[]
  readonly children: readonly ChildShape[]
  /** Text beside attributes: `value` in JSON. */
  readonly text: TextShape | undefined
  /** The types that may stand in its place, if it is abstract: xsi:type selects one, in JSON `kind`. */
  readonly variants: readonly ObjectShape[]
  readonly isVariant: boolean
}

export type ElementShape = TextShape | ObjectShape

export const isObjectShape = (shape: ElementShape): shape is ObjectShape => 'children' in shape

/** The attribute of an element that has no value. */
export const NIL = 'xsi:nil'
/** The key of an object's own text. */
export const TEXT_KEY = 'value'
/** The key of xsi:type. `type` is taken: it is the media type of a document. */
export const VARIANT_KEY = 'kind'

/** 'NumberOfCpus' → 'numberOfCpus', 'MACAddress' → 'macAddress', 'VApp' → 'vApp', 'VMRecord' → 'vmRecord'. */
export function keyOf(name: string): string {
  const local = localName(name)
  const capitals = /^[A-Z]+(?=[A-Z][a-z])|^[A-Z]+$/.exec(local)?.[0] ?? local.slice(0, 1)
  return capitals.toLowerCase() + local.slice(capitals.length)
}

/** Every key that an object of this shape may have. */
export function keysOf(shape: ObjectShape): readonly string[] {
  return [
    ...(shape.isVariant ? [VARIANT_KEY] : []),
    ...shape.attributes.map(({ key }) => key),
    ...shape.children.map(({ key }) => key),
    ...(shape.text ? [TEXT_KEY] : []),
  ]
}
