import { Type } from '@skerry/schema'

import type { Caller } from '../auth/caller.ts'

/** `?unavailable=true`: the document also names the actions that are not available. */
export const ExplainQuery = Type.Object({
  unavailable: Type.Optional(Type.String({ pattern: '^(true|false)$' })),
})

export const explaining = <
  Requested extends Caller & { readonly query: { readonly unavailable?: string } },
>(
  requested: Requested,
): Requested => ({ ...requested, explains: requested.query.unavailable === 'true' })
