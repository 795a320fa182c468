import type { Who } from '../identity/rights.ts'
import type { Format } from './wants.ts'

/** What every handler knows of its asker. */
export interface Asker {
  readonly who: Who
  /** What the answer is to come as: one of those that the row offers. */
  readonly format: Format
  /** Idempotency-Key: the same key is the same execution. */
  readonly requestKey: string | undefined
  readonly ifNoneMatch: string | undefined
  readonly lastEventId: string | undefined
}
