import { createCipheriv, createDecipheriv } from 'node:crypto'

import { Fault } from '@skerry/fault'

/** Keeps a text from whoever has the database and not the server before it. `about` must be the same at both ends. */
export interface Seal {
  close(text: string, about: string): Buffer
  open(sealed: Buffer, about: string): string
}

const NONCE_BYTES = 12
const TAG_BYTES = 16

/** AES-256-GCM under the key that all servers of a kind have, in base64, as it is at that moment. */
export function makeSeal(key: () => string | undefined, nonce: () => Buffer): Seal {
  const secret = (): Buffer => {
    const bytes = Buffer.from(key() ?? '', 'base64')
    if (bytes.length === 32) return bytes
    throw new Fault('unavailable', 'this server has no key to seal secrets with', {
      hint: 'skerry cloud init makes that of cells, skerry cloud workflow that of workflow servers; all of a kind need the same',
    })
  }
  return {
    close(text, about) {
      const start = nonce().subarray(0, NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', secret(), start).setAAD(Buffer.from(about))
      const inside = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return Buffer.concat([start, cipher.getAuthTag(), inside])
    },
    open(sealed, about) {
      const body = NONCE_BYTES + TAG_BYTES
      const from = createDecipheriv('aes-256-gcm', secret(), sealed.subarray(0, NONCE_BYTES))
        .setAAD(Buffer.from(about))
        .setAuthTag(sealed.subarray(NONCE_BYTES, body))
      try {
        return Buffer.concat([from.update(sealed.subarray(body)), from.final()]).toString('utf8')
      } catch (cause) {
        throw new Fault(
          'conflict',
          'what was sealed cannot be opened: the key is another one by now',
          {
            cause,
            hint: 'ask for it anew',
          },
        )
      }
    },
  }
}
