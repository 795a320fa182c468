import type { OrgId, UserId } from '@skerry/vm'
import type { Generated, GeneratedAlways, JSONColumnType } from 'kysely'

import type { LdapSettings } from '../domain/ldap-settings.ts'
import type { OpenIdSettings } from '../domain/openid-settings.ts'
import type { MaybeTime, Time } from './column-types.ts'

// The tables of users and of what proves them, column by column; the migrations document them.

export interface AccountTables {
  account: {
    org: OrgId
    id: Generated<UserId>
    name: string
    role: string
    own_role: GeneratedAlways<string | null>
    password: string | null
    disabled: Generated<boolean>
    provider: string | null
    subject: string | null
    lapsed: Generated<boolean>
    proved_at: MaybeTime
  }
  identity_provider: {
    org: OrgId
    id: Generated<string>
    name: string
    kind: 'ldap' | 'oidc'
    settings: JSONColumnType<LdapSettings | OpenIdSettings>
    sealed: Buffer
    disabled: Generated<boolean>
    made_at: Time
    silent_since: MaybeTime
    silent_reported: Generated<boolean>
    doubted_since: MaybeTime
  }
  group_role: {
    org: OrgId
    provider: string
    name: string
    role: string
    own_role: GeneratedAlways<string | null>
  }
  org_role: {
    org: OrgId
    id: Generated<string>
    name: string
    permissions: string[]
    made_at: Time
  }
  session: {
    token_hash: Buffer
    org: OrgId
    account: UserId
    began_at: Time
    seen_at: Time
    access_token: string | null
    provider: string | null
    sid: string | null
  }
  login_attempt: {
    state_hash: Buffer
    org: OrgId
    provider: string
    browser_hash: Buffer
    sealed: Buffer
    return_to: string
    network: string
    began_at: Time
  }
  device_login: {
    device_hash: Buffer
    user_code: string
    name: string
    address: string
    network: string
    began_at: Time
    asked_at: MaybeTime
    org: OrgId | null
    account: UserId | null
    denied: Generated<boolean>
  }
  second_factor: {
    org: OrgId
    id: Generated<string>
    account: UserId
    kind: Generated<'totp' | 'passkey'>
    name: string
    sealed: Buffer | null
    used_step: Generated<number>
    credential: Buffer | null
    public_key: Buffer | null
    counter: Generated<string>
    confirmed: Generated<boolean>
    made_at: Time
    used_at: MaybeTime
  }
  passkey_challenge: {
    challenge_hash: Buffer
    browser_hash: Buffer
    org: OrgId | null
    account: UserId | null
    proved: Generated<boolean>
    network: string
    began_at: Time
  }
  passkey_proof: { proof_hash: Buffer; org: OrgId; account: UserId; began_at: Time }
  recovery_code: { org: OrgId; account: UserId; hash: Buffer; used_at: MaybeTime }
  login_failure: { key: Buffer; failures: number; last_at: Time; until: Time }
  access_token: {
    org: OrgId
    id: Generated<string>
    account: UserId
    name: string
    token_hash: Buffer
    made_at: Time
    used_at: MaybeTime
    expires_at: MaybeTime
  }
}
