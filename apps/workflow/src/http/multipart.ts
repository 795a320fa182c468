import type { IncomingHttpHeaders } from 'node:http'

import { Fault } from '@skerry/fault'
import type { Body } from '@skerry/service'

import { WorkflowRefusal } from './refusal.ts'

/** A parsed upload: text fields and one file; or the file alone as the whole body. */
export interface Form {
  readonly fields: ReadonlyMap<string, string>
  readonly file: { readonly name: string; readonly bytes: Buffer } | undefined
}

const BYTES_MAX = 4 * 1024 * 1024
const PARTS_MAX = 16
const FIELD_MAX = 1024
const HEADERS_MAX = 4096

/** A form by RFC 7578, or the raw bytes of an archive or a definition. Read completely here, with size limits. */
export const form: Body<Promise<Form>> = {
  media: 'multipart/form-data',
  shape: 'a form with the part `file`: an archive (.workflow), or a definition in YAML or JSON',
  read: () => Promise.reject(new TypeError('a form is opened, not read')),
  async open(bytes, headers) {
    const whole = await collect(bytes)
    const boundary = boundaryOf(headers)
    if (boundary !== undefined) return readForm(whole, boundary)
    return { fields: new Map(), file: whole.length > 0 ? { name: '', bytes: whole } : undefined }
  },
}

async function collect(bytes: AsyncIterable<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = []
  let length = 0
  for await (const part of bytes) {
    length += part.length
    if (length > BYTES_MAX) {
      throw new WorkflowRefusal(413, `the body is larger than ${BYTES_MAX} bytes`, {
        connection: 'close',
      })
    }
    parts.push(part)
  }
  return Buffer.concat(parts)
}

function boundaryOf({ 'content-type': type = '' }: IncomingHttpHeaders): string | undefined {
  if (!/^multipart\//i.test(type)) return undefined
  const [, quoted, plain] =
    /^multipart\/form-data\s*;.*?\bboundary=(?:"([^"]{1,70})"|([^\s";]{1,70}))/i.exec(type) ?? []
  const boundary = quoted ?? plain
  if (boundary !== undefined) return boundary
  throw new Fault('invalid', 'expected multipart/form-data with a boundary')
}

/** Parses strictly: rejects anything that is not exactly a form. */
export function readForm(body: Buffer, boundary: string): Form {
  const mark = Buffer.from(`\r\n--${boundary}`)
  // The first boundary has no preceding line end.
  const whole = Buffer.concat([Buffer.from('\r\n'), body])
  const fields = new Map<string, string>()
  let file: Form['file']
  let at = whole.indexOf(mark)
  if (at === -1) throw wrong('it does not start with its boundary')
  for (let count = 0; ; count++) {
    at += mark.length
    const after = whole.subarray(at, at + 2).toString('latin1')
    if (after === '--') return { fields, file }
    if (after !== '\r\n' || count >= PARTS_MAX) {
      throw wrong(`a boundary must end its line, and at most ${PARTS_MAX} parts are allowed`)
    }
    const end = whole.indexOf(mark, at)
    if (end === -1) throw wrong('the last part is not terminated')
    const { name, filename, bytes } = readPart(whole.subarray(at + 2, end))
    if (fields.has(name) || (name === 'file' && file)) throw wrong(`${name} is given twice`)
    if (name === 'file') file = { name: filename ?? '', bytes }
    else fields.set(name, textOf(name, bytes))
    at = end
  }
}

function readPart(part: Buffer) {
  const end = part.indexOf('\r\n\r\n')
  if (end === -1 || end > HEADERS_MAX) throw wrong('a part must have headers and an empty line')
  const headers = part.subarray(0, end).toString('utf8').split('\r\n')
  const disposition = headers.find((line) => /^content-disposition:/i.test(line)) ?? ''
  const name = /;\s*name="([^"]*)"/i.exec(disposition)?.[1]
  const encoded = headers.some((line) =>
    /^content-transfer-encoding:(?!\s*(binary|8bit|7bit)$)/i.test(line),
  )
  if (name === undefined || name === '' || encoded) {
    throw wrong('a part needs Content-Disposition: form-data with a name, and no transfer encoding')
  }
  const filename = /;\s*filename="([^"]*)"/i.exec(disposition)?.[1]
  return { name, filename, bytes: Buffer.from(part.subarray(end + 4)) }
}

function textOf(name: string, bytes: Buffer): string {
  if (bytes.length > FIELD_MAX) throw wrong(`${name.slice(0, 64)} is too long`)
  return bytes.toString('utf8')
}

const wrong = (why: string): Fault => new Fault('invalid', `invalid form: ${why}`)
