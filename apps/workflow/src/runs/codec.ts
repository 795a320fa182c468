// Histories are sealed: Temporal and its database see neither values nor errors of a tenant.
import { createCipheriv, createDecipheriv } from 'node:crypto'
import { fileURLToPath } from 'node:url'

import type { DataConverter, Payload, PayloadCodec } from '@temporalio/common'

export interface CodecKey {
  /** Stored with the data it sealed, so that keys can be rotated. */
  readonly id: string
  /** 32 bytes. */
  readonly key: Buffer
}

export interface CodecOptions {
  /** The first key seals; all keys open. */
  readonly keys: readonly [CodecKey, ...CodecKey[]]
  readonly random: (bytes: number) => Buffer
}

const ENCODING = 'binary/sealed'
/** Temporal's encoding of `undefined`. */
const NOTHING: Payload = { metadata: { encoding: Buffer.from('binary/null') } }
const NONCE = 12
const TAG = 16
const text = (value: Uint8Array | null | undefined): string => Buffer.from(value ?? []).toString()

export function sealedConverter(options: CodecOptions): DataConverter {
  return {
    payloadCodecs: [codecOf(options)],
    failureConverterPath: fileURLToPath(new URL('../durable/failures.ts', import.meta.url)),
  }
}

/**
 * Seals a payload with its metadata. An unsealed payload was written without a key: it decodes to undefined, and the receiver rejects
 * it. Throwing an error here would block the run that it was sent to.
 */
export function codecOf({ keys, random }: CodecOptions): PayloadCodec {
  const [first] = keys
  return {
    encode: async (payloads) => payloads.map((each) => seal(each, first, random(NONCE))),
    decode: async (payloads) => payloads.map((each) => unseal(each, keys)),
  }
}

function seal(payload: Payload, { id, key }: CodecKey, nonce: Buffer): Payload {
  const metadata = Object.entries(payload.metadata ?? {}).map(([name, value]) => [
    name,
    text(value),
  ])
  const head = Buffer.from(JSON.stringify(Object.fromEntries(metadata)))
  const size = Buffer.alloc(4)
  size.writeUInt32BE(head.length)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(id))
  // Inside a workflow, missing data is an empty list.
  const data = Buffer.from(payload.data ?? [])
  const sealed = [cipher.update(Buffer.concat([size, head, data]))]
  sealed.push(cipher.final())
  return {
    metadata: { encoding: Buffer.from(ENCODING), key: Buffer.from(id) },
    data: Buffer.concat([nonce, ...sealed, cipher.getAuthTag()]),
  }
}

function unseal(payload: Payload, keys: readonly CodecKey[]): Payload {
  if (text(payload.metadata?.['encoding']) !== ENCODING) return NOTHING
  const id = text(payload.metadata?.['key'])
  const found = keys.find((each) => each.id === id)
  if (found === undefined) throw new Error(`unknown key ${id}: cannot open the sealed data`)
  const all = Buffer.from(payload.data ?? [])
  const nonce = all.subarray(0, NONCE)
  const decipher = createDecipheriv('aes-256-gcm', found.key, nonce, { authTagLength: TAG })
  decipher.setAAD(Buffer.from(id)).setAuthTag(all.subarray(-TAG))
  const plain = Buffer.concat([decipher.update(all.subarray(NONCE, -TAG)), decipher.final()])
  const end = 4 + plain.readUInt32BE(0)
  const metadata = JSON.parse(plain.subarray(4, end).toString()) as Record<string, string>
  return {
    metadata: Object.fromEntries(
      Object.entries(metadata).map(([name, value]) => [name, Buffer.from(value)]),
    ),
    data: plain.subarray(end),
  }
}
