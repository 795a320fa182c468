import type { HostApi } from '@skerry/host-api'
import type { SnapshotReader } from '@skerry/postgres'
import type { Clock, Seal } from '@skerry/service'
import type { HostId, OrgId, VmId } from '@skerry/vm'
import type { Kysely } from 'kysely'

import type { Tx, CloudTables } from './database/tables.ts'
import type { OpenIdServers } from './directories/ask-openid.ts'
import type { Principal } from './domain/authorize.ts'
import type { CursorsOf } from './feeds/event-cursors.ts'
import type { Feeds } from './feeds/feeds.ts'
import type { Uploads } from './images/uploads.ts'
import type { PostMessage } from './webhooks/egress.ts'

/** What a request may access: rows only as its caller, and of the hosts only what their VMs show and use. */
export interface RequestContext {
  /** Runs a transaction in which PostgreSQL shows only this caller's rows. */
  as<T>(principal: Principal, work: (tx: Tx) => Promise<T>): Promise<T>
  /** Access for the query service: read-only, to one organisation or all, with a timeout. */
  reads(reach: OrgId | 'all'): SnapshotReader
  readonly screens: (host: HostId) => Pick<HostApi, 'arm' | 'takeScreenshot'>
  readonly usage: (host: HostId) => Pick<HostApi, 'readUsage'>
  /** Wakes the run of this VM's queue. It carries no data and may be lost, so no caller waits for it. */
  wake(vm: VmId): void
  readonly clock: Clock
  /** 256 bits of secure randomness, as text. */
  readonly secret: () => string
  readonly seal: Seal
  /** Takes the code of a second factor. Returns whether the account has one; throws if the code is missing or wrong. */
  requireProof(principal: Principal, code: string | undefined): Promise<boolean>
  readonly uploads: Uploads
  readonly openIdServers: Pick<OpenIdServers, 'test'>
  /** Sends a message of a webhook; undefined: this cloud has no egress. */
  readonly postMessage?: PostMessage
  /** Open event feeds of this cell. */
  readonly feeds: Pick<Feeds, 'requireRoom' | 'open' | 'catchUp' | 'isCurrent'>
  /** Event ids as an organisation sees them. */
  readonly eventCursors: CursorsOf
  /** Days that tasks are kept, as their documents state. Default: 90. */
  readonly taskDays?: number
  readonly base: URL
  /** Public address of the consoles, as host or host:port: another host than the base's. */
  readonly console: string
}

/** What a step may access: all rows, and the hosts. */
export interface WorkerContext {
  readonly db: Kysely<CloudTables>
  hosts(id: HostId): HostApi
  readonly seal: Pick<Seal, 'open'>
  wake(vm: VmId): void
}
