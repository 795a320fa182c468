// Whether what a browser answers is a passkey of this cloud.
import { createHash, createPublicKey, verify, type KeyObject } from 'node:crypto'

import type { AuthenticatorData, ClientData, MadePasskey, ShownPasskey } from './passkey-answer.ts'

/** Where passkeys of this cloud are made and shown. */
export interface PasskeySite {
  /** The public address, as browsers name it. */
  readonly origin: string
  /** The host name in it, for which the passkeys are. */
  readonly host: string
}

/**
 * Why it is none. `use`: it was made where one is to be shown, or the other way around; `verified`: the authenticator has not asked the
 * person for a PIN or a finger.
 */
export type PasskeyProblem =
  | 'use'
  | 'origin'
  | 'site'
  | 'present'
  | 'verified'
  | 'credential'
  | 'key'
  | 'signature'

const sha256 = (text: string | Buffer): Buffer => createHash('sha256').update(text).digest()

function problemIn(
  { type, origin, isFramed }: ClientData,
  { site, isPresent, isVerified }: AuthenticatorData,
  expected: PasskeySite & { readonly type: string },
): PasskeyProblem | undefined {
  if (type !== expected.type) return 'use'
  if (origin !== expected.origin || isFramed) return 'origin'
  if (!site.equals(sha256(expected.host))) return 'site'
  if (!isPresent) return 'present'
  return isVerified ? undefined : 'verified'
}

/** A new passkey proves nothing but that its user was there: no maker of authenticators is asked to vouch for it. */
export function problemOfMade(made: MadePasskey, site: PasskeySite): PasskeyProblem | undefined {
  const { client, authenticator, credential, publicKey } = made
  const problem = problemIn(client, authenticator, { ...site, type: 'webauthn.create' })
  if (problem !== undefined) return problem
  if (authenticator.credential?.equals(credential) !== true) return 'credential'
  return keyIn(publicKey) ? undefined : 'key'
}

export function problemOfShown(
  shown: ShownPasskey,
  publicKey: Buffer,
  site: PasskeySite,
): PasskeyProblem | undefined {
  const { client, authenticator, clientBytes, signed, signature } = shown
  const problem = problemIn(client, authenticator, { ...site, type: 'webauthn.get' })
  if (problem !== undefined) return problem
  const key = keyIn(publicKey)
  if (!key) return 'key'
  const text = Buffer.concat([signed, sha256(clientBytes)])
  const algorithm = key.asymmetricKeyType === 'ed25519' ? null : 'sha256'
  return verify(algorithm, text, key, signature) ? undefined : 'signature'
}

/** What browsers are asked for: EdDSA, ES256 and RS256, by their numbers in COSE. */
export const KEY_ALGORITHMS = [-8, -7, -257] as const
const RSA_BITS = { least: 2048, most: 4096 } as const
const RSA_EXPONENT = 65_537n

/** The key, if it is of a kind that was asked for: an RSA key of a liar could be slow to verify with. */
function keyIn(der: Buffer): KeyObject | undefined {
  let key: KeyObject
  try {
    key = createPublicKey({ key: der, format: 'der', type: 'spki' })
  } catch {
    return undefined
  }
  const { asymmetricKeyType: kind, asymmetricKeyDetails: details = {} } = key
  const { namedCurve, modulusLength: bits = 0, publicExponent } = details
  const isWanted =
    kind === 'ed25519' ||
    (kind === 'ec' && namedCurve === 'prime256v1') ||
    (kind === 'rsa' &&
      bits >= RSA_BITS.least &&
      bits <= RSA_BITS.most &&
      publicExponent === RSA_EXPONENT)
  return isWanted ? key : undefined
}
