import type { OrgId } from '@skerry/vm'
import type { ColumnType } from 'kysely'

import type { MaybeTime, Time } from './column-types.ts'

/** A bigint that only the database sums up. */
type Sum = ColumnType<string, never, never>

/** The tables of metering. Triggers write spans, folding writes hours. */
export interface UsageTables {
  usage_folded: {
    single: boolean
    until: Date
    closed_at: MaybeTime
    closed_tx: string | null
  }
  usage_span: {
    org: OrgId
    kind: 'vm' | 'template' | 'address'
    unit: string
    began_at: Time
    ended_at: Time
    running: boolean
    cpus: number
    memory_mib: number
    storage_mib: number
  }
  usage_hour: {
    org: OrgId
    hour: Time
    vm_ms: Sum
    running_vm_ms: Sum
    cpu_ms: Sum
    running_cpu_ms: Sum
    memory_mib_ms: Sum
    running_memory_mib_ms: Sum
    storage_mib_ms: Sum
    template_mib_ms: Sum
    address_ms: Sum
  }
}
