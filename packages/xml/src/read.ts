import { Fault } from '@skerry/fault'

import { acceptComment, acceptInstruction, skipAside, skipDeclaration } from './aside.ts'
import { codePointName, findUncarried } from './characters.ts'
import { TextCursor, shortName } from './cursor.ts'
import type { Element } from './element.ts'
import { resolveReferences } from './references.ts'

/** The limits of a document. */
export interface XmlLimits {
  /** Of the text as UTF-8. */
  readonly bytesMax: number
  /** The maximum nesting depth of elements. */
  readonly depthMax: number
  /** Elements, texts, comments and processing instructions together. */
  readonly nodesMax: number
  /** Per element. */
  readonly attributesMax: number
}

/** The default limits: enough for every request body of ours. */
export const XML_LIMITS: XmlLimits = {
  bytesMax: 1024 * 1024,
  depthMax: 64,
  nodesMax: 10_000,
  attributesMax: 256,
}

/**
 * Parses a document in time and memory proportional to its length. A document with a DOCTYPE, with entities of its own or
 * that is not well-formed is rejected with a Fault `invalid` that names position and reason. White space is kept, comments
 * and processing instructions are dropped, and names keep their prefixes.
 */
export function readXml(text: string, limits: Partial<XmlLimits> = {}): Element {
  const allowed = { ...XML_LIMITS, ...limits }
  // A UTF-16 unit is at least one byte, so a huge text is rejected before its bytes are counted.
  if (text.length > allowed.bytesMax || Buffer.byteLength(text) > allowed.bytesMax) {
    throw new Fault('invalid', `the XML must not be larger than ${allowed.bytesMax} bytes`)
  }
  const cursor = new TextCursor(text)
  const wrong = findUncarried(text)
  if (wrong !== -1) {
    throw cursor.fault(`XML cannot represent the character ${codePointName(text, wrong)}`, wrong)
  }
  cursor.accept('\uFEFF')
  skipDeclaration(cursor)
  return new TreeReader(cursor, allowed).readDocument()
}

interface OpenElement extends Element {
  readonly children: (Element | string)[]
}

// A stack and a loop instead of recursion, so that no document can exhaust the call stack, regardless of the limits.
class TreeReader {
  readonly #cursor: TextCursor
  readonly #limits: XmlLimits
  readonly #open: OpenElement[] = []
  #nodes = 0

  constructor(cursor: TextCursor, limits: XmlLimits) {
    this.#cursor = cursor
    this.#limits = limits
  }

  readDocument(): Element {
    const cursor = this.#cursor
    const count = () => this.#countNode()
    skipAside(cursor, count)
    const root = this.#readRoot()
    skipAside(cursor, count)
    if (!cursor.atEnd) throw cursor.fault('nothing may follow the root element')
    return root
  }

  #readRoot(): Element {
    const root = this.#readStartTag()
    for (let parent = this.#open.at(-1); parent !== undefined; parent = this.#open.at(-1)) {
      this.#readContent(parent)
    }
    return root
  }

  #readContent(parent: OpenElement): void {
    const cursor = this.#cursor
    if (cursor.atEnd) throw cursor.fault(`<${shortName(parent.name)}> is not closed`)
    if (!cursor.sees('<')) this.#addText(parent, this.#readText())
    else if (cursor.accept('</')) this.#readEndTag(parent)
    else if (cursor.accept('<![CDATA[')) {
      this.#addText(parent, evenLines(cursor.takeUntil(']]>', 'the CDATA section')))
    } else if (acceptComment(cursor) || acceptInstruction(cursor)) this.#countNode()
    else parent.children.push(this.#readStartTag())
  }

  #readStartTag(): Element {
    const cursor = this.#cursor
    if (cursor.sees('<!')) throw cursor.fault('a DOCTYPE or another declaration is not accepted')
    if (!cursor.accept('<')) throw cursor.fault('expected the root element')
    if (this.#open.length === this.#limits.depthMax) {
      throw cursor.fault(`elements may be nested at most ${this.#limits.depthMax} deep`)
    }
    this.#countNode()
    const name = cursor.takeName('the name of an element')
    const attributes = this.#readAttributes()
    const started: OpenElement = { name, attributes, children: [] }
    if (cursor.accept('/>')) return started
    if (!cursor.accept('>')) throw cursor.fault('expected an attribute, > or />')
    this.#open.push(started)
    return started
  }

  #readAttributes(): Record<string, string> {
    const cursor = this.#cursor
    const attributes: Record<string, string> = Object.create(null)
    let count = 0
    while (cursor.skipSpace() && !cursor.sees('>') && !cursor.sees('/')) {
      const start = cursor.at
      const name = cursor.takeName('the name of an attribute')
      if (name in attributes) throw cursor.fault(`${shortName(name)} is given twice`, start)
      count += 1
      if (count > this.#limits.attributesMax) {
        throw cursor.fault(`at most ${this.#limits.attributesMax} attributes are accepted`, start)
      }
      cursor.skipSpace()
      if (!cursor.accept('=')) throw cursor.fault('expected =')
      cursor.skipSpace()
      attributes[name] = this.#readValue()
    }
    return attributes
  }

  #readValue(): string {
    const cursor = this.#cursor
    const quote = cursor.accept('"') ? '"' : "'"
    if (quote === "'" && !cursor.accept("'")) throw cursor.fault('expected a quoted value')
    const start = cursor.at
    const raw = cursor.takeUntil(quote, 'the value of an attribute')
    const bracket = raw.indexOf('<')
    if (bracket !== -1) throw cursor.fault('< is not allowed in a value', start + bracket)
    return resolveReferences(cursor, raw, start, (part) =>
      evenLines(part).replaceAll(/[\t\n]/g, ' '),
    )
  }

  #readEndTag(parent: OpenElement): void {
    const cursor = this.#cursor
    const start = cursor.at
    const name = cursor.takeName('the name of an element')
    if (name !== parent.name) {
      const reason = `expected </${shortName(parent.name)}>, not </${shortName(name)}>`
      throw cursor.fault(reason, start)
    }
    cursor.skipSpace()
    if (!cursor.accept('>')) throw cursor.fault('expected >')
    this.#open.pop()
  }

  #readText(): string {
    const cursor = this.#cursor
    const start = cursor.at
    const next = cursor.text.indexOf('<', start)
    const end = next === -1 ? cursor.text.length : next
    const raw = cursor.text.slice(start, end)
    const bracket = raw.indexOf(']]>')
    if (bracket !== -1) throw cursor.fault(']]> is not allowed in text', start + bracket)
    cursor.at = end
    return resolveReferences(cursor, raw, start, evenLines)
  }

  #addText(parent: OpenElement, text: string): void {
    const { children } = parent
    const before = children.at(-1)
    if (text === '') return
    if (typeof before === 'string') {
      children[children.length - 1] = before + text
      return
    }
    this.#countNode()
    children.push(text)
  }

  #countNode(): void {
    this.#nodes += 1
    if (this.#nodes > this.#limits.nodesMax) {
      const most = `at most ${this.#limits.nodesMax} elements, texts and comments are accepted`
      throw this.#cursor.fault(most)
    }
  }
}

/** Normalises line ends (XML 1.0 §2.11). */
function evenLines(raw: string): string {
  return raw.includes('\r') ? raw.replaceAll(/\r\n?/g, '\n') : raw
}
