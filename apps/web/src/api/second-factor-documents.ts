// Second factors of a user: apps that make codes, and passkeys.
import type { ApiLink } from './documents.ts'

/** The header with a code of the user's second factor. */
export const CODE_HEADER = 'x-cloud-second-factor'
/** A login, or a change of second factors, needs a code. */
export const CODE_MISSING = 'SECOND_FACTOR'
export const SECOND_FACTORS = '/api/session/secondFactors'

export interface SecondFactorDocument {
  readonly name: string
  readonly href: string
  readonly kind: 'TOTP' | 'PASSKEY'
  readonly confirmed: boolean
  readonly created: string
  readonly lastUsed?: string
  readonly link?: readonly ApiLink[]
}

export interface SecondFactorsDocument {
  readonly link?: readonly ApiLink[]
  readonly secondFactor?: readonly SecondFactorDocument[]
  readonly recoveryCodesLeft: number
  /** Whether the organisation requires one. */
  readonly required: boolean
}

/** The only document with the secret. */
export interface NewSecondFactorDocument {
  readonly name: string
  readonly href: string
  /** For the app, as a QR code. */
  readonly address: string
  readonly secret: string
  readonly link?: readonly ApiLink[]
}

export interface RecoveryCodesDocument {
  readonly code?: readonly string[]
}
