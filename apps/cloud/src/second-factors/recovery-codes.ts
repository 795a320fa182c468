import { hash as hashOnce } from 'node:crypto'

import { toBase32 } from './totp.ts'

/** As many as a user has, and the random bytes of each. */
const COUNT = 10
const BYTES = 10

/** Ten codes of 80 bits, such as abcd-efgh-ijkl-mnop. `secret`: 256 random bits, as base64url. */
export const newRecoveryCodes = (secret: () => string): readonly string[] =>
  Array.from({ length: COUNT }, () => {
    const bytes = Buffer.from(secret(), 'base64url').subarray(0, BYTES)
    return (toBase32(bytes).toLowerCase().match(/.{4}/g) ?? []).join('-')
  })

/** What is sent as the second factor: the digits of an app, or the hash of a recovery code or of what proves a passkey. */
export type TypedCode =
  | { readonly kind: 'digits'; readonly digits: string }
  | { readonly kind: 'recovery' | 'passkey'; readonly hash: Buffer }

/** 256 random bits, as base64url. */
const PASSKEY_PROOF = /^[\w-]{43}$/

/** In codes that people type, spaces and hyphens do not matter, nor does the case. Undefined: it is none of these. */
export function readCode(text: string): TypedCode | undefined {
  if (PASSKEY_PROOF.test(text)) return { kind: 'passkey', hash: hashOnce('sha256', text, 'buffer') }
  const plain = text.replaceAll(/[\s-]/g, '')
  if (/^\d{6}$/.test(plain)) return { kind: 'digits', digits: plain }
  return /^[a-z2-7]{16}$/i.test(plain)
    ? { kind: 'recovery', hash: hashRecoveryCode(plain) }
    : undefined
}

/** Random bits need no slow hash. */
export const hashRecoveryCode = (code: string): Buffer =>
  hashOnce('sha256', code.replaceAll('-', '').toLowerCase(), 'buffer')
