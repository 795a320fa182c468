/** The parts of JSON Schema that our routes use. */
export interface SketchShape {
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly properties?: Readonly<Record<string, SketchShape>>
  readonly required?: readonly string[]
  readonly items?: SketchShape
  readonly anyOf?: readonly SketchShape[]
  readonly allOf?: readonly SketchShape[]
}

/** A schema in short notation for people: `{ id: string, name?: string }`. */
export function sketch(shape: SketchShape): string {
  if (shape.enum) return shape.enum.map((word) => JSON.stringify(word)).join(' | ')
  if (shape.const !== undefined) return JSON.stringify(shape.const)
  if (shape.anyOf) return shape.anyOf.map(sketch).join(' | ')
  if (shape.allOf) return sketch(mergeShapes(shape.allOf))
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

const mergeShapes = (shapes: readonly SketchShape[]): SketchShape => ({
  properties: Object.assign({}, ...shapes.map(({ properties }) => properties)) as Record<
    string,
    SketchShape
  >,
  required: shapes.flatMap(({ required = [] }) => required),
})
