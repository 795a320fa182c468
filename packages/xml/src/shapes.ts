import type { Element } from './element.ts'
import { attribute, children, childrenByLocalName, localName, text } from './navigate.ts'
import { readXml } from './read.ts'
import {
  isObjectShape,
  keyOf,
  keysOf,
  type AttributeShape,
  type ChildShape,
  type ElementShape,
  type ObjectShape,
  type TextShape,
} from './shape.ts'

/**
 * The shapes of all root elements of a schema, from the texts of its files. Understands the part of XML Schema that our own schema
 * uses; a schema that uses more, or in which two members of a type would have the same key, is a TypeError.
 */
export function shapesOf(files: Iterable<string>): ReadonlyMap<string, ElementShape> {
  const shapes = new SchemaReader([...files].map((file) => readXml(file))).readRoots()
  for (const shape of objectsIn(shapes.values())) requireDistinctKeys(shape)
  return shapes
}

/** Every object shape below these. A mistake in the schema shows here, although members are read when they are first used. */
function objectsIn(roots: Iterable<ElementShape>): ReadonlySet<ObjectShape> {
  const found = new Set([...roots].filter(isObjectShape))
  for (const { children: members, variants } of found) {
    for (const { type } of members) if (isObjectShape(type)) found.add(type)
    for (const variant of variants) found.add(variant)
  }
  return found
}

type Kind = 'element' | 'complexType' | 'simpleType' | 'attribute'
interface Declaration {
  readonly node: Element
  /** Of the file's own names: 'ovf:'. */
  readonly prefix: string
}

interface Members {
  readonly attributes: AttributeShape[]
  readonly children: ChildShape[]
}

const LONG_MAX = 2n ** 63n - 1n
const plainText: TextShape = { kind: 'string' }
const builtIn: Readonly<Record<string, TextShape>> = {
  'xs:string': plainText,
  'xs:boolean': { kind: 'boolean' },
  'xs:dateTime': { kind: 'dateTime' },
  'xs:anyURI': { kind: 'uri' },
  'xs:int': { kind: 'integer', minimum: -(2n ** 31n), maximum: 2n ** 31n - 1n },
  'xs:long': { kind: 'integer', minimum: -(2n ** 63n), maximum: LONG_MAX },
  'xs:nonNegativeInteger': { kind: 'integer', minimum: 0n, maximum: LONG_MAX },
  'xs:unsignedShort': { kind: 'integer', minimum: 0n, maximum: 65_535n },
}

const first = (node: Element | undefined, name: string): Element | undefined =>
  childrenByLocalName(node, name)[0]
const written = (node: Element | undefined, name: string): string => attribute(node, name) ?? ''
const docOf = (node: Element): string | undefined =>
  text(first(first(node, 'annotation'), 'documentation'))
    ?.trim()
    .replaceAll(/\s+/g, ' ')
const extensionIn = (node: Element): Element | undefined =>
  first(first(node, 'complexContent') ?? first(node, 'simpleContent'), 'extension')

class SchemaReader {
  readonly #declared: Record<Kind, Map<string, Declaration>> = {
    element: new Map(),
    complexType: new Map(),
    simpleType: new Map(),
    attribute: new Map(),
  }
  readonly #roots = new Map<string, ElementShape>()
  readonly #types = new Map<string, ObjectShape>()

  constructor(files: readonly Element[]) {
    const prefixes = new Map<string, string>()
    for (const { attributes } of files) {
      for (const [name, namespace] of Object.entries(attributes)) {
        if (name.startsWith('xmlns:')) prefixes.set(namespace, `${localName(name)}:`)
      }
    }
    for (const file of files) {
      const prefix = prefixes.get(written(file, 'targetNamespace')) ?? ''
      for (const node of children(file)) {
        const kind = localName(node.name)
        if (['include', 'import', 'annotation'].includes(kind)) continue
        const known = this.#declared[kind as Kind] ?? unknown(kind)
        known.set(prefix + written(node, 'name'), { node, prefix })
      }
    }
  }

  readRoots(): ReadonlyMap<string, ElementShape> {
    for (const name of this.#declared.element.keys()) this.#root(name)
    return this.#roots
  }

  #declaration(kind: Kind, name: string): Declaration {
    return this.#declared[kind].get(name) ?? unknown(`${kind} ${name}`)
  }

  #root(name: string): ElementShape {
    const known = this.#roots.get(name)
    if (known) return known
    const { node, prefix } = this.#declaration('element', name)
    const shape = this.#elementType(node, prefix, localName(name))
    this.#roots.set(name, shape)
    return shape
  }

  /** `called`: the name of a type that has none of its own. */
  #elementType(node: Element, prefix: string, called: string): ElementShape {
    const type = attribute(node, 'type')
    if (type !== undefined) {
      return this.#textType(type, prefix) ?? this.#objectType(qualified(type, prefix))
    }
    const inline = first(node, 'complexType')
    if (inline) return this.#readObject(inline, { prefix, name: called, doc: docOf(node) })
    const simple = first(node, 'simpleType') ?? unknown(`type of ${called}`)
    return this.#restricted(simple, prefix)
  }

  #textType(name: string, prefix: string): TextShape | undefined {
    const found = this.#declared.simpleType.get(qualified(name, prefix))
    return builtIn[name] ?? (found && this.#restricted(found.node, found.prefix))
  }

  #restricted(node: Element, prefix: string): TextShape {
    const restriction = first(node, 'restriction')
    const facet = (name: string) => attribute(first(restriction, name), 'value')
    const length = (name: string) => (facet(name) === undefined ? undefined : Number(facet(name)))
    const bound = (name: string) => (facet(name) === undefined ? undefined : BigInt(facet(name)!))
    const values = childrenByLocalName(restriction, 'enumeration')
    const [base, pattern] = [written(restriction, 'base'), facet('pattern')]
    const facets = {
      pattern,
      // A media type names the format of the document.
      kind: pattern?.includes('\\+xml') ? 'mediaType' : undefined,
      enum: values.length > 0 ? values.map((each) => written(each, 'value')) : undefined,
      minLength: length('minLength'),
      maxLength: length('maxLength'),
      minimum: bound('minInclusive'),
      maximum: bound('maxInclusive'),
    }
    const given = Object.entries(facets).filter(([, value]) => value !== undefined)
    return { ...(this.#textType(base, prefix) ?? unknown(base)), ...Object.fromEntries(given) }
  }

  #objectType(name: string): ObjectShape {
    const known = this.#types.get(name)
    if (known) return known
    const { node, prefix } = this.#declaration('complexType', name)
    const whole = localName(name)
    const short = whole.replace(/Type$/, '')
    const root = this.#declared.element.get(short)?.node
    // Another element may have the short name: then the type keeps its whole name.
    const isFree = !root || attribute(root, 'type') === name
    const shape = this.#readObject(node, {
      prefix,
      name: isFree ? short : whole,
      doc: docOf(node),
      type: name,
    })
    this.#types.set(name, shape)
    return shape
  }

  /** Its members are read when they are first used, because a type may contain itself. */
  #readObject(
    node: Element,
    of: {
      readonly prefix: string
      readonly name: string
      readonly doc: string | undefined
      readonly type?: string
    },
  ): ObjectShape {
    const { prefix, name, doc, type = '' } = of
    const extension = extensionIn(node)
    const base = extension && written(extension, 'base')
    const content = base === undefined ? undefined : this.#textType(base, prefix)
    const parent = () =>
      base === undefined || content ? undefined : this.#objectType(qualified(base, prefix))
    const own = lazily(() => this.#members(extension ?? node, prefix, name))
    const attributes = lazily(() => [...(parent()?.attributes ?? []), ...own().attributes])
    const inside = lazily(() => [...(parent()?.children ?? []), ...own().children])
    const isAbstract = attribute(node, 'abstract') === 'true'
    const variants = lazily(() => (isAbstract ? this.#variantsOf(type) : []))
    return {
      name,
      doc,
      text: content,
      get attributes() {
        return attributes()
      },
      get children() {
        return inside()
      },
      get variants() {
        return variants()
      },
      get isVariant() {
        return (parent()?.variants.length ?? 0) > 0
      },
    }
  }

  #variantsOf(type: string): ObjectShape[] {
    return [...this.#declared.complexType]
      .filter(([, { node }]) => attribute(extensionIn(node), 'base') === type)
      .map(([name]) => this.#objectType(name))
  }

  #members(
    node: Element,
    prefix: string,
    of: string,
    { isRequired = true, isList = false } = {},
  ): Members {
    const members: Members = { attributes: [], children: [] }
    for (const part of children(node)) {
      const kind = localName(part.name)
      const isOptional = attribute(part, 'minOccurs') === '0'
      const repeats = isList || (attribute(part, 'maxOccurs') ?? '1') !== '1'
      if (kind === 'sequence' || kind === 'choice') {
        const inner = this.#members(part, prefix, of, {
          isRequired: isRequired && kind === 'sequence' && !isOptional,
          isList: repeats,
        })
        members.attributes.push(...inner.attributes)
        members.children.push(...inner.children)
      } else if (kind === 'attribute') members.attributes.push(this.#attribute(part, prefix))
      else if (kind === 'element') {
        const occurs = { isList: repeats, isRequired: isRequired && !isOptional }
        members.children.push(this.#child(part, { prefix, of, ...occurs }))
      } else if (kind !== 'annotation') unknown(kind)
    }
    return members
  }

  #attribute(part: Element, prefix: string): AttributeShape {
    const ref = attribute(part, 'ref')
    const name = ref === undefined ? written(part, 'name') : qualified(ref, prefix)
    const target = ref === undefined ? { node: part, prefix } : this.#declaration('attribute', name)
    const inline = first(target.node, 'simpleType')
    const type = inline
      ? this.#restricted(inline, target.prefix)
      : this.#textType(written(target.node, 'type'), target.prefix)
    return {
      name,
      key: keyOf(name),
      type: type ?? unknown(`type of ${name}`),
      isRequired: attribute(part, 'use') === 'required',
      doc: docOf(target.node),
    }
  }

  #child(
    part: Element,
    of: {
      readonly prefix: string
      readonly of: string
      readonly isList: boolean
      readonly isRequired: boolean
    },
  ): ChildShape {
    const { prefix, isList, isRequired } = of
    const ref = attribute(part, 'ref')
    const name = ref === undefined ? prefix + written(part, 'name') : qualified(ref, prefix)
    const type = lazily(() => {
      if (ref !== undefined) return this.#root(name)
      const plain = this.#elementType(part, prefix, of.of + localName(name))
      if (attribute(part, 'nillable') !== 'true') return plain
      return isObjectShape(plain) ? unknown(`nil of ${name}`) : { ...plain, isNillable: true }
    })
    const doc = docOf(ref === undefined ? part : this.#declaration('element', name).node)
    return {
      name,
      key: keyOf(name),
      get type() {
        return type()
      },
      isList,
      isRequired,
      doc,
    }
  }
}

const qualified = (name: string, prefix: string): string =>
  name.includes(':') ? name : prefix + name

function requireDistinctKeys(shape: ObjectShape): void {
  const keys = keysOf(shape)
  const twice = keys.find((key, at) => keys.indexOf(key) !== at)
  if (twice !== undefined) throw new TypeError(`${shape.name} would have two keys ${twice}`)
}

function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => (made ??= { value: make() }).value
}

function unknown(what: string): never {
  throw new TypeError(`the schema uses or names something unknown: ${what}`)
}
