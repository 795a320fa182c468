import type { Host } from '@skerry/engine'
import type { FileRequest } from '@skerry/screen'
import { rowsOf, type Route } from '@skerry/service'

import type { Stopped, StopWay } from '../autostart.ts'
import type { Forwards } from '../forwards.ts'
import type { Journal } from '../journal.ts'
import type { Operations, Progress } from '../operations.ts'
import type { Teller } from '../teller.ts'
import type { Consoles } from './consoles.ts'
import type { Meter } from './meter.ts'

export interface Local {
  readonly host: Host
  readonly forwards: Forwards
  readonly journal: Journal
  readonly teller: Teller
  readonly operations: Operations
  readonly meter: Meter
  readonly consoles: Consoles
  /** All guests, because the machine goes down. */
  readonly stopGuests: (way: StopWay) => Promise<Stopped>
}

/** Who asks: the user that owns the other end of the connection. */
export interface Asker {
  readonly uid: number
  /** Whether he showed the token, or none is wanted; of a page that a browser asks for he may not have. */
  readonly carriesToken?: boolean
  /** Whether he would rather follow long work than wait for it. */
  readonly respondAsync?: boolean
  /** Takes how far the work is, from 0 to 100, where somebody follows it. */
  readonly progress?: Progress
  /** How he would like a page to be sent. */
  readonly page?: FileRequest
  /** Whether he is to read what he asked for, rather than a program. */
  readonly reads?: boolean
  /** Up to where an earlier event stream of his came. */
  readonly lastEventId?: string | undefined
}

export type LocalRoute = Route<Local, Asker, 'local'>
export const route = rowsOf<Local, Asker, 'local'>()
