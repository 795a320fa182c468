import type { RequestKey } from '../database/request-keys.ts'
import type { Dialect } from '../dialect/dialect.ts'
import type { Version } from '../dialect/version.ts'
import type { Principal } from '../domain/authorize.ts'

/** What every handler knows about its caller. */
export interface Caller {
  readonly principal: Principal
  readonly version: Version
  readonly dialect: Dialect
  /** The token of the request; at login, the new token. */
  readonly token: string
  /** Whether a page that the cloud serves sends the request: its session is in a cookie. */
  readonly isPage: boolean
  /** Idempotency-Key: the same key returns the same Task. */
  readonly request: RequestKey | undefined
  readonly lastEventId: string | undefined
  /** Days that tasks are kept. */
  readonly taskDays: number
}
