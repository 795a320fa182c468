import type { OrgId } from '@skerry/vm'
import type { ColumnType, Generated } from 'kysely'

import type { MaybeTime, Time } from './column-types.ts'

/** Why a webhook sends nothing. */
export type WhyDisabled = 'asked' | 'failing' | 'gone'

/** The tables of webhooks; the migration documents them. */
export interface WebhookTables {
  webhook: {
    org: OrgId
    id: Generated<string>
    name: string
    url: string
    kinds: string[]
    sealed: Buffer
    sealed_before: Buffer | null
    before_until: MaybeTime
    made_at: Time
    disabled: WhyDisabled | null
    tx: string
    seq: string
    reached: Time
    round: Generated<number>
    attempts: Generated<number>
    failing_since: MaybeTime
    next_at: Time
    last_answer: string | null
    behind: Generated<boolean>
    claim: Generated<string>
    lease_until: Time
  }
  webhook_delivery: {
    org: OrgId
    webhook: string
    id: Generated<string>
    at: Time
    first_tx: string
    first_seq: string
    last_tx: string
    last_seq: string
    events: number
    status: ColumnType<number | null, number | null | undefined, never>
    milliseconds: number
    taken: boolean
    answer: string
  }
}
