/** The parts of a JSON Schema that our rows use. */
export interface Shape {
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly properties?: Readonly<Record<string, Shape>>
  readonly required?: readonly string[]
  readonly items?: Shape
  readonly anyOf?: readonly Shape[]
  readonly allOf?: readonly Shape[]
}

/** A schema in the few words that a person reads: `{ id: string, name?: string }`. */
export function sketch(shape: Shape): string {
  if (shape.enum) return shape.enum.map((word) => JSON.stringify(word)).join(' | ')
  if (shape.const !== undefined) return JSON.stringify(shape.const)
  if (shape.anyOf) return shape.anyOf.map(sketch).join(' | ')
  if (shape.allOf) return sketch(joined(shape.allOf))
  if (shape.items) return `[${sketch(shape.items)}, …]`
  if (shape.properties) {
    const required = shape.required ?? []
    const fields = Object.entries(shape.properties).map(
      ([name, each]) => `${name}${required.includes(name) ? '' : '?'}: ${sketch(each)}`,
    )
    return `{ ${fields.join(', ')} }`
  }
  return shape.type ?? 'anything'
}

const joined = (shapes: readonly Shape[]): Shape => ({
  properties: Object.assign({}, ...shapes.map(({ properties }) => properties)) as Record<
    string,
    Shape
  >,
  required: shapes.flatMap(({ required = [] }) => required),
})
