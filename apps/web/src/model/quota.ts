// What of an organisation's quota is used, as rows of a table.
import type { AdminOrgDocument } from '../api/documents.ts'

/** All of them: a limit that a change does not contain is removed. */
const keys = [
  'vms',
  'runningVms',
  'cpus',
  'memoryMB',
  'storageMB',
  'networks',
  'edgeGateways',
  'externalAddresses',
] as const

export interface QuotaRow {
  readonly key: (typeof keys)[number]
  readonly used: number | undefined
  /** undefined: no limit. */
  readonly limit: number | undefined
}

export const quotaRowsOf = ({ quota = {}, used = {} }: AdminOrgDocument): QuotaRow[] =>
  keys.map((key) => ({ key, used: used[key], limit: quota[key] }))
