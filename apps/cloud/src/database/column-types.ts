import type { ColumnType, Generated } from 'kysely'

export type Time = ColumnType<Date, Date | undefined, Date>
export type MaybeTime = ColumnType<Date | null, Date | null | undefined, Date | null>
/** A bigint as a decimal string, here and on the wire. */
export type Big = Generated<string>
