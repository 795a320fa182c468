import { createHash } from 'node:crypto'

import type { OrgId, UserId } from '@skerry/vm'

import type { RequestKey } from '../database/request-keys.ts'

/** Owner of tasks that no user requested. */
export const SYSTEM = 'system'
export const NO_ACCOUNT = '00000000-0000-0000-0000-000000000000' as UserId

/** Uses a cause as an idempotency key, so that its effect happens once. */
export function causedBy(
  org: OrgId,
  cause: string,
): {
  readonly principal: { readonly org: OrgId; readonly account: UserId }
  readonly requested: RequestKey
} {
  const bodyHash = createHash('sha256').update(cause).digest()
  return { principal: { org, account: NO_ACCOUNT }, requested: { key: cause, bodyHash } }
}
