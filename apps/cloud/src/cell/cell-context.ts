import type { Clock, Ids, KeyAndCert, Seal } from '@skerry/service'

import type { CellLogins } from '../database/acting-as.ts'
import type { CursorsOf } from '../feeds/event-cursors.ts'
import type { Identity } from '../hosts/connect.ts'
import type { Fitness } from './fitness.ts'

export interface CellContext {
  readonly clock: Clock
  readonly ids: Ids & { salt(): Buffer }
  readonly log: (message: string, cause?: unknown) => void
  /** The current identity of this cell towards other machines. */
  readonly identity: () => Identity
  /** Its identity towards Temporal and workflow servers: the same certificate, with the issuer of theirs. */
  readonly toTemporal: () => Identity
  /** The current certificate shown to clients. */
  readonly tls: () => KeyAndCert
  /** The certificate of the cloud's own issuer for sites; undefined: it has none. */
  readonly site: () => string | undefined
  /** Encrypts data that may be secret before it is stored temporarily. */
  readonly seal: Seal
  /** Event ids as an organisation sees them. */
  readonly eventCursors: CursorsOf
  readonly logins: CellLogins
  /** The self-checks of this cell; they run once before it starts. */
  readonly fitness: Fitness
}
