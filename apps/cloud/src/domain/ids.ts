import type { Id } from '@skerry/vm'

export type VappId = Id<'vapp'>

/** Checked before a query: PostgreSQL fails on text that is not a UUID. */
export const isUuid = (text: string): boolean =>
  /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text)
