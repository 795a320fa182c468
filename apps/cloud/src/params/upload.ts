import type { IncomingHttpHeaders } from 'node:http'

import { Fault } from '@skerry/fault'
import type { Body } from '@skerry/service'
import { attribute, element } from '@skerry/xml'

import type { NewUpload } from '../images/upload-rows.ts'
import type { UploadPart } from '../images/uploads.ts'
import { readNamed } from './named.ts'
import type { RequestDocument } from './request-document.ts'

/** In bytes: the size of the file, not of the virtual disk in it. */
export const UPLOAD_BYTES_MAX = 256 * 1024 ** 3
const SHA256 = /^[0-9a-f]{64}$/

/** UploadParams: the name of a template, the size and SHA-256 of its image, and the processors and memory of its VMs. */
export const uploadParams: RequestDocument<NewUpload> = {
  media: 'uploadParams',
  shape: 'UploadParams',
  example: ({ name = 'bookworm' }) =>
    element('UploadParams', { name, size: 1_073_741_824, sha256: '0'.repeat(64), memoryMB: 1024 }),
  read(raw) {
    const { root, name } = readNamed(raw, 'UploadParams')
    const count = (what: string, most: number, usual?: number): number => {
      const written = attribute(root, what)
      if (written === undefined && usual !== undefined) return usual
      if (/^[1-9]\d{0,14}$/.test(written ?? '') && Number(written) <= most) return Number(written)
      throw new Fault('invalid', `${what} must be a number from 1 to ${most}`)
    }
    const sha256 = attribute(root, 'sha256')?.toLowerCase()
    if (sha256 !== undefined && !SHA256.test(sha256)) {
      throw new Fault('invalid', 'sha256 must be 64 hexadecimal digits')
    }
    return {
      name,
      bytes: count('size', UPLOAD_BYTES_MAX),
      ...(sha256 !== undefined && { sha256 }),
      cpus: count('numberOfCpus', 64, 1),
      memoryMiB: count('memoryMB', 1024 ** 2, 512),
    }
  },
}

const RANGE = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15}|\*)$/
const NOTHING = /^bytes \*\/(\d{1,15}|\*)$/

/** The part that is sent, by Content-Range; default: all. `bytes *\/N` sends nothing: everything was received already. */
export function rangeOf(
  headers: IncomingHttpHeaders,
  size: number,
): { readonly from: number; readonly length: number } {
  const written = headers['content-range']
  if (written === undefined) return { from: 0, length: size }
  if (NOTHING.test(written)) return { from: size, length: 0 }
  const [, first = '', last = '', total = ''] = RANGE.exec(written) ?? []
  const [from, length] = [Number(first), Number(last) - Number(first) + 1]
  if (first === '' || length < 1 || from + length > size || (total !== '*' && +total !== size)) {
    throw new Fault('invalid', `Content-Range must be bytes FIRST-LAST/${size}`)
  }
  return { from, length }
}

/** A stream of bytes; the expected number is known once the upload is found. */
export const sentBytes: Body<(size: number) => UploadPart> = {
  media: 'octet-stream',
  shape: { type: 'string', format: 'binary' },
  read() {
    throw new TypeError('the bytes of an upload are streamed, not read at once')
  },
  // A handler that stops reading still responds: destroying the stream would close the connection before the response is sent.
  open: (stream, headers) => (size) => ({
    ...rangeOf(headers, size),
    bytes: stream.iterator({ destroyOnReturn: false }),
  }),
}
