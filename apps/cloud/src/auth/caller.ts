import type { RequestKey } from '../database/request-keys.ts'
import type { Dialect } from '../dialect/dialect.ts'
import type { Version } from '../dialect/version.ts'
import type { Principal } from '../domain/authorize.ts'
import { ACCESS_TOKEN } from './access-token.ts'

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
  /** Whether documents also name the actions that are not available, with the reason. Default: only links. */
  readonly explains?: boolean
  /** The code of a second factor, as it was sent. */
  readonly code: string | undefined
  readonly lastEventId: string | undefined
  /** What the route has read together with the resources of its path. */
  readonly found?: unknown
  /** Days that tasks are kept. */
  readonly taskDays: number
}

/** Whether the request belongs to a session, which can log out: neither an API token nor a workflow run can. */
export const isSession = ({ principal, token }: Pick<Caller, 'principal' | 'token'>): boolean =>
  principal.grant === undefined && !token.startsWith(ACCESS_TOKEN)
