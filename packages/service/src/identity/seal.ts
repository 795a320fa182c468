import { createCipheriv, createDecipheriv } from 'node:crypto'

import { Fault } from '@skerry/fault'

/** Encrypts a text so that access to the database alone does not reveal it. `about` must be the same for close and open. */
export interface Seal {
  close(text: string, about: string): Buffer
  open(sealed: Buffer, about: string): string
}

const NONCE_BYTES = 12
const TAG_BYTES = 16

/** AES-256-GCM with the current key (base64), which all servers of a kind share. */
export function makeSeal(key: () => string | undefined, nonce: () => Buffer): Seal {
  const secret = (): Buffer => {
    const bytes = Buffer.from(key() ?? '', 'base64')
    if (bytes.length === 32) return bytes
    throw new Fault('unavailable', 'this server has no seal key, which encrypts secrets', {
      hint: 'skerry admin init creates it for cells, skerry admin workflow-server create for workflow servers; all servers of a kind need the same key',
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
        throw new Fault('conflict', 'cannot decrypt a sealed secret: the seal key has changed', {
          cause,
          hint: 'send the request again',
        })
      }
    },
  }
}
