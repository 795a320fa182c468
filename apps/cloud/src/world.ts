import type { HostApi } from '@skerry/host-api'
import type { Asking } from '@skerry/postgres'
import type { Clock, Seal } from '@skerry/service'
import type { HostId, OrgId, VmId } from '@skerry/vm'
import type { Kysely, Transaction } from 'kysely'

import type { Who } from './identity/authorize.ts'
import type { Uploads } from './images/uploads.ts'
import type { Database } from './store/database.ts'

export type Tx = Transaction<Database>

/** What a request may reach: rows only as somebody, and of the hosts only screens. */
export interface RequestWorld {
  /** A transaction in which Postgres shows this asker's rows and no others. */
  as<T>(who: Who, work: (tx: Tx) => Promise<T>): Promise<T>
  /** The query service's way to the rows: reads only, of one organisation or of all, and gives up after a while. */
  reads(reach: OrgId | 'all'): Asking
  readonly screens: (host: HostId) => Pick<HostApi, 'arm' | 'takeScreenshot'>
  /** "Look at this VM's queue." Carries nothing; losing it loses nothing, so nobody waits for it. */
  ring(vm: VmId): void
  readonly clock: Clock
  /** 256 bits that nobody can guess, as text. */
  readonly secret: () => string
  readonly seal: Pick<Seal, 'close'>
  readonly uploads: Uploads
  readonly base: URL
  /** Where screens are shown, as host or host:port: another host than the base's. */
  readonly console: string
}

/** What a step may reach: all rows, and the hosts. */
export interface StepWorld {
  readonly db: Kysely<Database>
  hosts(id: HostId): HostApi
  readonly seal: Pick<Seal, 'open'>
  ring(vm: VmId): void
}
