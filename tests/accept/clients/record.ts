// The traffic between a client and our servers as a readable page, the same in every run: ids, times, secrets and ports are
// replaced by names, repeated polling appears once, and of a document that appeared before only new lines are shown.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import type { Exchange, Message } from './recorder.ts'

const RECORDS = join(import.meta.dirname, 'records')
/** Whether the current traffic becomes the record. */
const RECORDING = process.env['SKERRY_RECORD'] === '1'
const recorded = new Set<string>()
/** Differing lines of each. */
const SHOWN = 5

/** Values that differ in each run and are known to the test. */
export type Known = Readonly<Record<string, string>>

/** Compares the traffic with the record of that name, or writes it. */
export async function holdToRecord(
  name: string,
  exchanges: readonly Exchange[],
  known: Known,
): Promise<void> {
  const file = join(RECORDS, `${name}.txt`)
  const page = pageOf(exchanges, known)
  if (RECORDING && !recorded.has(name)) await writeFile(file, page)
  recorded.add(name)
  const kept = existsSync(file) ? await readFile(file, 'utf8') : ''
  if (page === kept) return
  const [now, then] = [page.split('\n'), kept.split('\n')]
  const line = now.findIndex((each, at) => each !== then[at])
  const beside = (lines: readonly string[]) => lines.slice(line, line + SHOWN).join('\n')
  assert.fail(
    `${name} differs from its record at line ${line + 1}; it was\n${beside(now)}\nand the record says\n${beside(then)}\nIf that is right: npm run record:clients`,
  )
}

/** Headers that a client or a server depends on; the others come from its library. */
const TELLING = /^(accept|content-type|location|www-authenticate|authorization|x-vcloud-.*)$/i

export function pageOf(exchanges: readonly Exchange[], known: Known): string {
  const stable = stabiliser(known)
  const reported = new Map<string, readonly string[]>()
  const parts = exchanges.filter(isLast).map(({ method, path, sent, status, said }) => {
    const requested = [
      `${method} ${stable(path)}`,
      ...headersOf(sent, stable),
      ...linesOf(sent, stable),
    ]
    const where = `${method} ${stable(path)}`
    const lines = linesOf(said, stable)
    const before = reported.get(where)
    reported.set(where, lines)
    const answer = [
      String(status),
      ...headersOf(said, stable),
      ...(before ? changes(before, lines) : lines),
    ]
    return [...requested.map((line) => `> ${line}`), ...answer.map((line) => `< ${line}`), ''].join(
      '\n',
    )
  })
  return parts.join('\n')
}

/** An immediately repeated request was polling: the last response counts. */
const isLast = ({ method, path }: Exchange, at: number, all: readonly Exchange[]): boolean => {
  const next = all[at + 1]
  return method !== 'GET' || next?.method !== method || next.path !== path
}

const headersOf = ({ headers }: Message, stable: (text: string) => string): string[] =>
  Object.entries(headers)
    .filter(([name, value]) => TELLING.test(name) && value !== '')
    .map(([name, value]) => [name.toLowerCase(), value] as const)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(
      ([name, value]) =>
        `${name}: ${name === 'authorization' ? credentials(value, stable) : stable(value)}`,
    )

function credentials(value: string, stable: (text: string) => string): string {
  const [, encoded] = /^Basic (.+)$/.exec(value) ?? []
  return encoded === undefined
    ? stable(value)
    : `Basic base64(${stable(Buffer.from(encoded, 'base64').toString())})`
}

function linesOf({ headers, body }: Message, stable: (text: string) => string): string[] {
  if (body.length === 0) return []
  const type = headers['content-type'] ?? ''
  if (/^(image|application\/zip)/.test(type)) return ['', '(bytes)']
  const text = body.toString()
  const shown = type.includes('json')
    ? JSON.stringify(JSON.parse(text), undefined, 2)
    : type.includes('xml')
      ? indented(text)
      : text
  return ['', ...stable(shown).trimEnd().split(/\r?\n/)]
}

/** One element per line, indented by depth; an element with text stays on its line. */
function indented(xml: string): string {
  let depth = 0
  return xml
    .replaceAll(/>\s*</g, '>\n<')
    .split('\n')
    .map((line) => {
      const trimmed = line.trim()
      if (trimmed.startsWith('</')) depth -= 1
      const shown = `${'  '.repeat(depth)}${trimmed}`
      if (/^<\w[^>]*[^/]>$/.test(trimmed)) depth += 1
      return shown
    })
    .join('\n')
}

/** The new lines, after the number of unchanged ones. */
function changes(before: readonly string[], now: readonly string[]): string[] {
  const known = new Set(before)
  const fresh = now.filter((line) => !known.has(line))
  if (fresh.length === 0) return ['', '(as before)']
  return ['', '(as before, but)', ...fresh]
}

const UUID = /([A-Za-z]+[-/:=])?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})/g

/** Replaces values that differ in each run by names, the same name everywhere. */
function stabiliser(known: Known): (text: string) => string {
  const named = new Map<string, string>()
  const count = new Map<string, number>()
  const nameOf = (kind: string, value: string): string => {
    const old = named.get(value)
    if (old !== undefined) return old
    const next = (count.get(kind) ?? 0) + 1
    count.set(kind, next)
    named.set(value, `{${kind} ${next}}`)
    return nameOf(kind, value)
  }
  return (text) => {
    let said = text
    for (const [name, value] of Object.entries(known)) {
      said = said.replaceAll(value, name).replaceAll(encodeURIComponent(value), name)
    }
    return (
      said
        .replaceAll(UUID, (_, before: string | undefined, id: string) => {
          const kind = before?.slice(0, -1) ?? 'id'
          return `${before ?? ''}${nameOf(kind, id)}`
        })
        .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)/g, '{time}')
        .replaceAll(/\b[0-9a-f]{64}\b/g, (digest) => nameOf('digest', digest))
        .replaceAll(/\b1\d{12}\b/g, '{time}')
        .replaceAll(/\b(10\.\d{1,3}|100\.64)(\.\d{1,3}){2}\b/g, (address) =>
          nameOf('address', address),
        )
        .replaceAll(/\b([0-9a-f]{2}:){5}[0-9a-f]{2}\b/g, (mac) => nameOf('mac', mac))
        // In a filter that was encoded twice.
        .replaceAll(/https(%[0-9A-F]+|\/)+127\.0\.0\.1%(25)*3A\d+/g, 'https://server')
        .replaceAll(/\bskerry-[0-9a-f]{10}\b/g, (network) => nameOf('network', network))
        .replaceAll(/-*formdata-undici-\d+/g, '{boundary}')
        .replaceAll(/ticket=[\w%-]+/g, 'ticket={ticket}')
        .replaceAll(/<Ticket>[^<]+/g, '<Ticket>{ticket}')
    )
  }
}
