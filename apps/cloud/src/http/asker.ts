import type { Who } from '../identity/authorize.ts'
import type { RequestKey } from '../store/request-keys.ts'
import type { Dialect } from './dialect.ts'
import type { Version } from './version.ts'

/** What every handler knows of its asker. */
export interface Asker {
  readonly who: Who
  readonly version: Version
  readonly dialect: Dialect
  /** What it came with; at login, what it shall come with from now on. */
  readonly token: string
  /** Idempotency-Key: the same key is the same Task. */
  readonly request: RequestKey | undefined
  readonly lastEventId: string | undefined
}
