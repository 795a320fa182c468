// curl on this machine, as a client of the workflow server: with the cloud's CA, and exactly the given arguments.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

import { attribute, childrenByLocalName, localName, readXml } from '@skerry/xml'

const run = promisify(execFile)
const BYTES_MAX = 16 * 1024 * 1024

export interface Said {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

export type Curl = (...words: readonly string[]) => Promise<Said>

/** No server listened, or it died before the response. */
export class NoAnswer extends Error {}

export const curlWith =
  (ca: string): Curl =>
  async (...words) => {
    const all = ['-sS', '-i', '-m', '60', '--cacert', ca, ...words]
    const { stdout } = await run('curl', all, { maxBuffer: BYTES_MAX }).catch((cause: unknown) => {
      throw new NoAnswer(String(cause), { cause })
    })
    // A chunked upload may have been answered with "100 Continue" first.
    const answer = stdout.replace(/^(HTTP\/1\.1 100 [^]*?\r\n\r\n)+/, '')
    const end = answer.indexOf('\r\n\r\n')
    const [line = '', ...rest] = answer.slice(0, end).split('\r\n')
    const headers = Object.fromEntries(
      rest.map((each) => {
        const [, name = '', value = ''] = /^([^:]+): ?(.*)$/.exec(each) ?? []
        return [name.toLowerCase(), value]
      }),
    )
    return { status: Number(line.split(' ')[1]), headers, text: answer.slice(end + 4) }
  }

export const JSON_ASKED = ['-H', 'Accept: application/json'] as const
export const formats = { xml: [], json: JSON_ASKED } as const
export type Format = keyof typeof formats

/** The attributes of one workflow in a list. */
export type Listed = Readonly<Record<string, string>>

/** The entries of a list, in either format. */
export function listedIn({ status, headers, text }: Said, format: Format): Listed[] {
  assert.equal(status, 200, text)
  assert.match(headers['content-type'] ?? '', new RegExp(`^application/${format}\\b`))
  return format === 'json' ? ofJson(text) : ofXml(text)
}

export interface JsonLink {
  readonly attributes: readonly { readonly name: string; readonly value?: string }[]
}

interface JsonList {
  readonly total: number
  readonly link: readonly JsonLink[]
}

export const attributesOf = ({ attributes }: JsonLink): Listed =>
  Object.fromEntries(attributes.map(({ name, value = '' }) => [name, value]))

function ofJson(text: string): Listed[] {
  const { link, total } = JSON.parse(text) as JsonList
  assert.equal(total, link.length)
  return link.map(attributesOf)
}

function ofXml(text: string): Listed[] {
  const root = readXml(text)
  assert.equal(localName(root.name), 'inventory-items')
  const links = childrenByLocalName(root, 'link')
  assert.equal(attribute(root, 'total'), String(links.length))
  return links.map((link) => {
    const [attributes] = childrenByLocalName(link, 'attributes')
    return Object.fromEntries(
      childrenByLocalName(attributes, 'attribute').map((each) => [
        attribute(each, 'name') ?? '',
        attribute(each, 'value') ?? '',
      ]),
    )
  })
}

/** An error in the requested format, for any request. */
export function requireRefused(
  { status, headers, text }: Said,
  wanted: number,
  format: Format,
): void {
  assert.equal(status, wanted, text)
  assert.match(headers['content-type'] ?? '', new RegExp(`^application/${format}\\b`))
  if (wanted === 401) assert.match(headers['www-authenticate'] ?? '', /^Basic realm=/)
  if (format === 'json') assert.equal((JSON.parse(text) as { status: number }).status, wanted)
  else assert.equal(localName(readXml(text).name), 'error')
}
