import type { OrgId, UserId } from '@skerry/vm'
import type { Generated, JSONColumnType } from 'kysely'

import type { LdapSettings } from '../domain/ldap-settings.ts'
import type { Role } from '../domain/roles.ts'
import type { MaybeTime, Time } from './column-types.ts'

// The tables of users and of what proves them, column by column; the migrations document them.

export interface AccountTables {
  account: {
    org: OrgId
    id: Generated<UserId>
    name: string
    role: Role
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
    kind: 'ldap'
    settings: JSONColumnType<LdapSettings>
    sealed: Buffer
    disabled: Generated<boolean>
    made_at: Time
    silent_since: MaybeTime
    silent_reported: Generated<boolean>
    doubted_since: MaybeTime
  }
  group_role: { org: OrgId; provider: string; name: string; role: Role }
  session: {
    token_hash: Buffer
    org: OrgId
    account: UserId
    began_at: Time
    seen_at: Time
    access_token: string | null
  }
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
