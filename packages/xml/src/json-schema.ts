import {
  isObjectShape,
  TEXT_KEY,
  VARIANT_KEY,
  type ElementShape,
  type ObjectShape,
  type TextShape,
} from './shape.ts'

/** A JSON Schema (2020-12, as in OpenAPI 3.1). */
export type JsonSchema = Readonly<Record<string, unknown>>

/** Which root elements responses and requests contain. */
export interface SchemaUse {
  readonly answered: readonly string[]
  readonly taken: readonly string[]
}

type Shapes = ReadonlyMap<string, ElementShape>

export interface NamedSchemas {
  /** By name, for `#/components/schemas`. */
  readonly schemas: Readonly<Record<string, JsonSchema>>
  readonly answer: (element: string) => JsonSchema
  readonly request: (element: string) => JsonSchema
}

/**
 * The shapes as JSON Schemas, one for each type. In a response, lists are always there. In a request nothing of a type that
 * responses have too is required, since a request may contain a part of the document: such a type is called XInput there. A type
 * that only requests have keeps its name, and what the schema requires.
 */
export function jsonSchemas(shapes: Shapes, { answered, taken }: SchemaUse): NamedSchemas {
  const schemas: Record<string, JsonSchema> = {}
  const answers = new SchemaWriter(schemas, () => undefined)
  const roots = new Map(answered.map((name) => [name, answers.schemaOf(shapeNamed(shapes, name))]))
  const known = new Set(Object.keys(schemas))
  const requests = new SchemaWriter(schemas, (name) => (known.has(name) ? 'partial' : 'whole'))
  const bodies = new Map(taken.map((name) => [name, requests.schemaOf(shapeNamed(shapes, name))]))
  const get = (all: ReadonlyMap<string, JsonSchema>) => (name: string) =>
    all.get(name) ?? missing(name)
  return { schemas: sorted(schemas), answer: get(roots), request: get(bodies) }
}

/** How much of a type a request must contain; undefined: it is a response. */
type RequestPart = 'partial' | 'whole' | undefined

class SchemaWriter {
  readonly #schemas: Record<string, JsonSchema>
  readonly #partOf: (name: string) => RequestPart
  readonly #written = new Map<string, ObjectShape>()

  constructor(schemas: Record<string, JsonSchema>, partOf: (name: string) => RequestPart) {
    this.#schemas = schemas
    this.#partOf = partOf
  }

  schemaOf(shape: ElementShape): JsonSchema {
    if (!isObjectShape(shape)) return textSchema(shape)
    const part = this.#partOf(shape.name)
    const name = part === 'partial' ? `${shape.name}Input` : shape.name
    const known = this.#written.get(name)
    if (known && known !== shape) throw new TypeError(`two types are called ${name}`)
    if (!known) {
      this.#written.set(name, shape)
      this.#schemas[name] = this.#variants(shape) ?? this.#object(shape, part)
    }
    return { $ref: `#/components/schemas/${name}` }
  }

  #variants({ variants, doc }: ObjectShape): JsonSchema | undefined {
    if (variants.length === 0) return undefined
    const oneOf = variants.map((each) => this.schemaOf(each))
    const mapping = Object.fromEntries(
      variants.map(({ name }, at) => [name, oneOf[at]?.['$ref'] as string]),
    )
    return { ...described(doc), oneOf, discriminator: { propertyName: VARIANT_KEY, mapping } }
  }

  #object(shape: ObjectShape, part: RequestPart): JsonSchema {
    const { name, doc, attributes, children, text, isVariant } = shape
    const properties: Record<string, JsonSchema> = isVariant
      ? { [VARIANT_KEY]: { type: 'string', const: name } }
      : {}
    for (const each of attributes) {
      properties[each.key] = { ...textSchema(each.type), ...described(each.doc) }
    }
    for (const each of children) {
      const item = this.schemaOf(each.type)
      const schema = each.isList ? { type: 'array', items: item } : item
      properties[each.key] = { ...schema, ...described(each.doc) }
    }
    if (text) properties[TEXT_KEY] = textSchema(text)
    const required = [
      ...(isVariant ? [VARIANT_KEY] : []),
      ...(part === 'partial'
        ? []
        : attributes.filter(({ isRequired }) => isRequired).map(({ key }) => key)),
      ...children
        .filter(({ isList, isRequired }) =>
          isList ? part === undefined : isRequired && part !== 'partial',
        )
        .map(({ key }) => key),
      ...(text && part === undefined ? [TEXT_KEY] : []),
    ]
    return {
      type: 'object',
      ...described(doc),
      properties,
      ...(required.length > 0 && { required }),
      additionalProperties: false,
    }
  }
}

const described = (doc: string | undefined): JsonSchema =>
  doc === undefined ? {} : { description: doc }

const INT32_MAX = 2n ** 31n - 1n

function textSchema(shape: TextShape): JsonSchema {
  const schema = valueSchema(shape)
  return shape.isNillable === true ? { ...schema, type: [schema['type'], 'null'] } : schema
}

function valueSchema(shape: TextShape): JsonSchema {
  const { kind, enum: values, minLength, maxLength } = shape
  if (kind === 'boolean') return { type: 'boolean' }
  if (kind === 'integer') {
    return { ...integerSchema(shape), ...(values && { enum: values.map(Number) }) }
  }
  const pattern = shape.pattern?.replace('\\+xml', '\\+json')
  return {
    type: 'string',
    ...(kind === 'dateTime' && { format: 'date-time' }),
    ...(kind === 'uri' && { format: 'uri' }),
    ...(values && { enum: values }),
    ...(minLength !== undefined && { minLength }),
    ...(maxLength !== undefined && { maxLength }),
    // A pattern of XML Schema matches the whole text, one of JSON Schema any part of it.
    ...(pattern !== undefined && { pattern: `^(?:${pattern})$` }),
  }
}

/** The bounds of the formats themselves are left out. */
function integerSchema({ minimum = 0n, maximum = 0n }: TextShape): JsonSchema {
  const format = maximum > INT32_MAX ? 'int64' : 'int32'
  return {
    type: 'integer',
    format,
    ...(minimum > -INT32_MAX && { minimum: Number(minimum) }),
    ...(maximum < INT32_MAX && { maximum: Number(maximum) }),
  }
}

const sorted = <T>(record: Readonly<Record<string, T>>): Readonly<Record<string, T>> =>
  Object.fromEntries(Object.entries(record).toSorted(([a], [b]) => (a < b ? -1 : 1)))

const shapeNamed = (shapes: Shapes, name: string): ElementShape => shapes.get(name) ?? missing(name)

function missing(name: string): never {
  throw new TypeError(`the schema has no element ${name}`)
}
