import type { Id } from '@skerry/vm'

export type VappId = Id<'vapp'>

/** What is no id at all would be an error of the database's. */
export const isUuid = (text: string): boolean =>
  /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text)
