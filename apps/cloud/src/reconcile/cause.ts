import { createHash } from 'node:crypto'

import type { OrgId, UserId } from '@skerry/vm'

import type { RequestKey } from '../store/request-keys.ts'

/** Whose name stands at a task that nobody asked for. */
export const SYSTEM = 'system'
export const NOBODY = '00000000-0000-0000-0000-000000000000' as UserId

/** A cause as the key of a request: whatever is done because of it is done once. */
export function causedBy(
  org: OrgId,
  cause: string,
): { readonly who: { readonly org: OrgId; readonly account: UserId }; readonly asked: RequestKey } {
  const bodyHash = createHash('sha256').update(cause).digest()
  return { who: { org, account: NOBODY }, asked: { key: cause, bodyHash } }
}
