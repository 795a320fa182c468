// An authenticator with passkeys, as software, and the browser before it. It answers truthfully, or as a test wants.
import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto'

import { BASE } from './tenants-api.ts'

export interface CreationOptions {
  readonly challenge: string
  readonly rp: { readonly id: string }
  readonly user: { readonly id: string }
}

export interface RequestOptions {
  readonly challenge: string
  readonly rpId: string
}

/** What is said instead of the truth. */
export interface Lies {
  readonly origin?: string
  readonly site?: string
  readonly type?: string
  readonly challenge?: string
  readonly crossOrigin?: boolean
  /** Bits of the flags: 1 somebody was there, 4 they have shown who they are. */
  readonly flags?: number
  readonly counter?: number
  readonly userHandle?: string
  readonly credential?: Buffer
}

interface Held {
  readonly credential: Buffer
  readonly user: string
  readonly privateKey: KeyObject
}

const MADE = 0x40
const HONEST = 0x05
const text64 = (bytes: Buffer | string): string => Buffer.from(bytes).toString('base64url')

const authenticatorData = (site: string, flags: number, counter: number, rest: Buffer): Buffer => {
  const fixed = Buffer.alloc(5)
  fixed.writeUInt8(flags)
  fixed.writeUInt32BE(counter, 1)
  return Buffer.concat([createHash('sha256').update(site).digest(), fixed, rest])
}

const clientData = (type: string, challenge: string, { origin = BASE, ...lies }: Lies): Buffer =>
  Buffer.from(
    JSON.stringify({
      type: lies.type ?? type,
      challenge: lies.challenge ?? challenge,
      origin,
      crossOrigin: lies.crossOrigin ?? false,
    }),
  )

/** The three kinds of keys that the cloud asks for, and some that it does not. */
export const keyMakers = {
  ed25519: () => generateKeyPairSync('ed25519'),
  p256: () => generateKeyPairSync('ec', { namedCurve: 'prime256v1' }),
  rsa: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
  p384: () => generateKeyPairSync('ec', { namedCurve: 'secp384r1' }),
  rsa1024: () => generateKeyPairSync('rsa', { modulusLength: 1024 }),
  x25519: () => generateKeyPairSync('x25519'),
} as const

export class SoftAuthenticator {
  readonly #makeKeys: () => { readonly publicKey: KeyObject; readonly privateKey: KeyObject }
  held: Held | undefined
  counter = 0

  constructor(kind: keyof typeof keyMakers = 'p256') {
    this.#makeKeys = keyMakers[kind]
  }

  /** As a page sends it. */
  make({ challenge, rp, user }: CreationOptions, lies: Lies = {}) {
    const { publicKey, privateKey } = this.#makeKeys()
    const credential = randomBytes(16)
    this.held = { credential, user: user.id, privateKey }
    const length = Buffer.alloc(2)
    length.writeUInt16BE(credential.length)
    // The key in CBOR, which the cloud does not read.
    const attested = Buffer.concat([randomBytes(16), length, credential, Buffer.from('a0', 'hex')])
    const data = authenticatorData(
      lies.site ?? rp.id,
      (lies.flags ?? HONEST) | MADE,
      lies.counter ?? this.counter,
      attested,
    )
    const id = text64(lies.credential ?? credential)
    return {
      id,
      rawId: id,
      type: 'public-key',
      response: {
        clientDataJSON: text64(clientData('webauthn.create', challenge, lies)),
        authenticatorData: text64(data),
        publicKey: text64(publicKey.export({ format: 'der', type: 'spki' })),
      },
    }
  }

  show({ challenge, rpId }: RequestOptions, lies: Lies = {}) {
    if (!this.held) throw new Error('no passkey was made')
    const { credential, user, privateKey } = this.held
    const flags = lies.flags ?? HONEST
    const data = authenticatorData(
      lies.site ?? rpId,
      flags,
      lies.counter ?? this.counter,
      Buffer.alloc(0),
    )
    const client = clientData('webauthn.get', challenge, lies)
    const signed = Buffer.concat([data, createHash('sha256').update(client).digest()])
    const algorithm = privateKey.asymmetricKeyType === 'ed25519' ? null : 'sha256'
    const id = text64(lies.credential ?? credential)
    return {
      id,
      rawId: id,
      type: 'public-key',
      response: {
        clientDataJSON: text64(client),
        authenticatorData: text64(data),
        signature: text64(sign(algorithm, signed, privateKey)),
        userHandle: lies.userHandle ?? user,
      },
    }
  }
}
