import type { OrgId, UserId } from '@skerry/vm'

/** Whose second factors. */
export interface FactorOwner {
  readonly org: OrgId
  readonly account: UserId
}
