import type { WorkflowPrincipal } from '../identity/rights.ts'
import type { ResponseFormat } from './wants.ts'

/** What every handler knows about its caller. */
export interface WorkflowCaller {
  readonly principal: WorkflowPrincipal
  /** The response format: one of those that the route offers. */
  readonly format: ResponseFormat
  /** Idempotency-Key: requests with the same key share one execution. */
  readonly requestKey: string | undefined
  readonly ifNoneMatch: string | undefined
  readonly lastEventId: string | undefined
  /** Checks the credentials of this request again; for long-lived responses. */
  principalNow(): Promise<WorkflowPrincipal | undefined>
}
