// Who may use a vApp or a catalog beyond their role.
import type { ApiLink, Reference } from './documents.ts'

/** From the least to the most: each includes those before it. */
export const shareLevels = ['ReadOnly', 'Change', 'FullControl'] as const
export type AccessLevel = (typeof shareLevels)[number]

export interface SubjectDocument {
  readonly type: 'user' | 'group'
  readonly name: string
  /** Of a group: the identity server whose group it is. */
  readonly provider?: string
}

export interface AccessSettingDocument {
  readonly subject: SubjectDocument
  readonly accessLevel: AccessLevel
}

/** All shares of a vApp or a catalog. A request replaces them. */
export interface ControlAccessDocument {
  readonly link?: readonly ApiLink[]
  readonly isSharedToEveryone: boolean
  readonly everyoneAccessLevel?: AccessLevel
  readonly accessSettings?: { readonly accessSetting?: readonly AccessSettingDocument[] }
}

export interface IdentityProvidersDocument {
  readonly identityProviderReference?: readonly Reference[]
}

/** An identity server, and the groups of it that have a role. */
export interface IdentityProviderDocument {
  readonly name: string
  readonly groupRole?: readonly { readonly name: string; readonly role: string }[]
}
