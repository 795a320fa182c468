import type { TypedCode } from './recovery-codes.ts'
import { stepOf } from './totp.ts'

/** A confirmed second factor of an account. */
export interface KnownFactor {
  readonly id: string
  readonly name: string
  /** Undefined: it is a passkey, or cannot be decrypted, so no digits fit. */
  readonly secret: Uint8Array | undefined
  readonly usedStep: number
}

/** What is known of an account, and what was sent. */
export interface PresentedCode {
  readonly factors: readonly KnownFactor[]
  /** Undefined: no code was sent. */
  readonly text: string | undefined
  readonly typed: TypedCode | undefined
  /** Whether the code is an unused recovery code of the account, or proves a passkey of it. */
  readonly isKnown: boolean
}

/** What a code proves. `step`, `recovery` and `passkey` count when they are taken, which happens once. */
export type FactorProof =
  | { readonly is: 'not needed' }
  | { readonly is: 'missing' }
  | { readonly is: 'wrong' }
  | { readonly is: 'step'; readonly factor: string; readonly step: number }
  | { readonly is: 'recovery' | 'passkey'; readonly hash: Buffer }

const NO_SECRET = Buffer.alloc(20)

export function decideProof(
  { factors, text, typed, isKnown }: PresentedCode,
  now: Date,
): FactorProof {
  const proof = proofOf(factors, typed, isKnown, now)
  if (factors.length === 0) return { is: 'not needed' }
  return text === undefined ? { is: 'missing' } : proof
}

function proofOf(
  factors: readonly KnownFactor[],
  typed: TypedCode | undefined,
  isKnown: boolean,
  now: Date,
): FactorProof {
  if (typed && typed.kind !== 'digits' && isKnown) return { is: typed.kind, hash: typed.hash }
  const digits = typed?.kind === 'digits' ? typed.digits : '000000'
  const found = factors.map(({ id, secret, usedStep }) => {
    const step = stepOf(secret ?? NO_SECRET, digits, now, usedStep)
    return step === undefined || !secret || typed?.kind !== 'digits' ? undefined : { id, step }
  })
  const fits = found.find((each) => each !== undefined)
  return fits ? { is: 'step', factor: fits.id, step: fits.step } : { is: 'wrong' }
}
