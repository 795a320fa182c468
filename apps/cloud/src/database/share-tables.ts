import type { OrgId, UserId } from '@skerry/vm'
import type { Generated } from 'kysely'

import type { ShareLevel } from '../domain/shares.ts'
import type { Time } from './column-types.ts'

// The tables of shares, column by column; the migrations document them.

export interface ShareTables {
  share: {
    org: OrgId
    id: Generated<string>
    vapp: string | null
    catalog: string | null
    account: UserId | null
    provider: string | null
    group_name: string | null
    level: ShareLevel
    made_at: Time
  }
  account_group: { org: OrgId; account: UserId; provider: string; name: string }
}
