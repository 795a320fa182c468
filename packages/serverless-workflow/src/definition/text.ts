import { Composer, CST, isMap, isScalar, isSeq, Lexer, LineCounter, Parser } from 'yaml'
import type { Document as YamlDocument, Pair, ParsedNode } from 'yaml'

import type { Complaint } from './definition.ts'
import { DEFINITION_LIMITS } from './limits.ts'
import { escapePointer, unescapePointer } from './task.ts'

/** A parsed text: plain JSON, and the position of each value in the text. */
export interface ReadText {
  readonly value: unknown
  complain(at: string, message: string): Complaint
}

/**
 * Parses YAML 1.2, or JSON, which is YAML. Anchors, aliases and tags are rejected: nothing can expand while parsing, and a file
 * means exactly what a reader sees. Work and memory are proportional to the text, which is bounded.
 */
export function readText(
  text: string,
): { readonly read: ReadText } | { readonly complaints: Complaint[] } {
  const lines = new LineCounter()
  const at = (offset: number, pointer: string, message: string): Complaint => {
    const { line, col } = lines.linePos(offset)
    return { line: Math.max(line, 1), column: Math.max(col, 1), at: pointer, message }
  }
  const size = Buffer.byteLength(text)
  if (size > DEFINITION_LIMITS.bytes)
    return {
      complaints: [at(0, '', `${size} bytes; the maximum is ${DEFINITION_LIMITS.bytes}`)],
    }
  const tokens: CST.Token[] = []
  const refusal = readTokens(text, lines, tokens)
  if (refusal !== undefined) return { complaints: [at(refusal.offset, '', refusal.message)] }
  const documents = [...new Composer({ uniqueKeys: false, keepSourceTokens: true }).compose(tokens)]
  const [document, second] = documents
  if (document === undefined) return { complaints: [at(0, '', 'the definition is empty')] }
  if (second !== undefined)
    return {
      complaints: [at(second.range[0], '', 'a second document starts here; expected one')],
    }
  if (document.errors.length > 0)
    return {
      complaints: document.errors
        .slice(0, DEFINITION_LIMITS.complaints)
        .map((error) => at(error.pos[0], '', firstLine(error.message))),
    }
  return toJson(document, at)
}

interface TextRefusal {
  readonly offset: number
  readonly message: string
}

/** Reads tokens without recursion, so that text that is too deep or too long is rejected at the first excess token. */
function readTokens(
  text: string,
  lines: LineCounter,
  tokens: CST.Token[],
): TextRefusal | undefined {
  const parser = new Parser(lines.addNewLine)
  lines.addNewLine(0)
  let seen = 0
  let before = ''
  for (const lexeme of new Lexer().lex(text)) {
    // The token after a scalar mark is text, even if it looks like another token.
    const type = before === CST.SCALAR ? undefined : CST.tokenType(lexeme)
    const wrong = whyNotToken(type, lexeme, parser.stack.length)
    before = lexeme
    seen += 1
    if (wrong !== undefined) return { offset: parser.offset, message: wrong }
    if (seen > DEFINITION_LIMITS.tokens)
      return { offset: parser.offset, message: `more than ${DEFINITION_LIMITS.tokens} tokens` }
    tokens.push(...parser.next(lexeme))
  }
  tokens.push(...parser.end())
  return undefined
}

function whyNotToken(
  type: CST.TokenType | null | undefined,
  lexeme: string,
  depth: number,
): string | undefined {
  // The document itself is on the stack too.
  if (depth > DEFINITION_LIMITS.depth + 1) return `deeper than ${DEFINITION_LIMITS.depth} levels`
  if (type === 'anchor' || type === 'alias')
    return `the ${type} ${clip(lexeme)}: write the value out, anchors and aliases are not supported`
  if (type === 'tag') return `the tag ${clip(lexeme)}: tags are not supported`
  if (type === 'directive-line' && !/^%YAML\s+1\.2\s*$/.test(lexeme))
    return `the directive ${clip(lexeme)} is not supported`
  return undefined
}

/** Converts nodes to JSON by JSON's rules: keys are texts and unique. */
function toJson(
  document: YamlDocument.Parsed,
  at: (offset: number, pointer: string, message: string) => Complaint,
): { readonly read: ReadText } | { readonly complaints: Complaint[] } {
  const complaints: Complaint[] = []
  let values = 0
  const report = (offset: number, pointer: string, message: string) => {
    if (complaints.length < DEFINITION_LIMITS.complaints)
      complaints.push(at(offset, pointer, message))
  }
  const plain = (node: ParsedNode | null | undefined, pointer: string): unknown => {
    values += 1
    if (values > DEFINITION_LIMITS.values || node === null || node === undefined) return null
    if (isSeq(node)) return node.items.map((item, index) => plain(item, `${pointer}/${index}`))
    if (isMap(node)) return members(node, pointer)
    const value = isScalar(node) ? node.value : undefined
    if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
    if (typeof value === 'number' && Number.isFinite(value)) return value
    report(node.range[0], pointer, 'expected a text, a number, true, false or null')
    return null
  }
  const members = (node: ParsedNode, pointer: string): Record<string, unknown> => {
    const found: Record<string, unknown> = {}
    if (!isMap<ParsedNode, ParsedNode | null>(node)) return found
    for (const { key, value } of node.items) {
      const name = isScalar(key) ? key.value : undefined
      if (typeof name !== 'string')
        report(key.range[0], pointer, 'a key must be a text; put it in quotes')
      else if (name.length > DEFINITION_LIMITS.keyLength)
        report(key.range[0], pointer, `key longer than ${DEFINITION_LIMITS.keyLength} characters`)
      else if (name === '__proto__')
        report(key.range[0], pointer, 'the key __proto__ is not allowed')
      else if (Object.hasOwn(found, name))
        report(key.range[0], pointer, `duplicate key "${clip(name)}"`)
      else found[name] = plain(value, `${pointer}/${escapePointer(name)}`)
    }
    return found
  }
  const value = plain(document.contents, '')
  if (values > DEFINITION_LIMITS.values)
    report(0, '', `more than ${DEFINITION_LIMITS.values} values; split it into several workflows`)
  if (complaints.length > 0) return { complaints }
  return {
    read: {
      value,
      complain: (pointer, message) => at(offsetOf(document, pointer), pointer, message),
    },
  }
}

/** The position of a pointer's target: of its key if it has one, because that is what a reader looks for. */
function offsetOf(document: YamlDocument.Parsed, pointer: string): number {
  let node: ParsedNode | null | undefined = document.contents
  let offset = node?.range[0] ?? 0
  for (const step of pointer.split('/').slice(1)) {
    const name = unescapePointer(step)
    if (isSeq<ParsedNode>(node)) {
      node = node.items[Number(name)]
      offset = node?.range[0] ?? offset
    } else if (isMap<ParsedNode, ParsedNode | null>(node)) {
      const pair: Pair<ParsedNode, ParsedNode | null> | undefined = node.items.find(
        ({ key }) => isScalar(key) && key.value === name,
      )
      if (pair === undefined) return offset
      offset = pair.key.range[0]
      node = pair.value
    } else return offset
  }
  return offset
}

/** The parser's message, with a hint for the most common mistake. */
function firstLine(message: string): string {
  const line = message.split('\n')[0]?.replace(/:$/, '') ?? message
  return line.startsWith('Nested mappings')
    ? `${line}; put a value that contains ": " in quotes`
    : line
}

/** Shortens foreign text for use in a message. */
export const clip = (text: string, length = 60): string =>
  text.length > length ? `${text.slice(0, length)}…` : text
