import type { RequestListener } from 'node:http'

import type { Kysely } from 'kysely'

import type { CheckCredentials } from '../auth/credentials.ts'
import type { Sessions } from '../auth/sessions.ts'
import type { CloudTables } from '../database/tables.ts'
import type { CellIdentity, IssueContext } from '../identity/issuers.ts'
import type { NetworkIssuers } from '../identity/network-issuers.ts'

/** What workflow servers may use: the password check of the tenant API, and its routes. */
export interface ForWorkflows {
  readonly check: CheckCredentials
  /** The sessions of the web UI, which a cell passes on. */
  readonly sessions: Pick<Sessions, 'find'>
  /** The tenant API, on behalf of the user who started a run. */
  readonly api: RequestListener
}

export interface MachineContext {
  readonly db: Kysely<CloudTables>
  /** The current identity: it is renewed while the cell runs. */
  identity(): CellIdentity
  readonly issuing: IssueContext
  /** Issuers of networks across hosts; undefined if there are none on this machine now. */
  networkIssuers?(): Promise<NetworkIssuers | undefined>
  /** The directory of the images, each named after its SHA-256. */
  readonly images: string
  /** What workflow servers may use, as soon as the cell is up. */
  forWorkflows?(): ForWorkflows | undefined
  readonly log: (message: string, cause?: unknown) => void
}
