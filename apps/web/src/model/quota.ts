// What of an organisation's quota is used, as rows of a table.
import type { AdminOrgDocument } from '../api/documents.ts'

export interface QuotaRow {
  readonly key: 'vms' | 'runningVms' | 'cpus' | 'memoryMB' | 'storageMB' | 'networks'
  readonly used: number | undefined
  /** undefined: no limit. */
  readonly limit: number | undefined
}

const keys = ['vms', 'runningVms', 'cpus', 'memoryMB', 'storageMB', 'networks'] as const

export const quotaRowsOf = ({ quota = {}, used = {} }: AdminOrgDocument): QuotaRow[] =>
  keys.map((key) => ({ key, used: used[key], limit: quota[key] }))
