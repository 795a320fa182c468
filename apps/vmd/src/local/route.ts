import type { Host } from '@skerry/engine'
import type { FileRequest } from '@skerry/screen'
import { routeFactory, type Route } from '@skerry/service'

import type { Forwards } from '../forwards/forwards.ts'
import type { StoppedGuests, StopWay } from '../guests/autostart.ts'
import type { ChangedPart } from '../journal/journal-state.ts'
import type { Journal } from '../journal/journal.ts'
import type { NewOperation, Operations, OnProgress } from '../journal/operations.ts'
import type { VmChangeRecorder } from '../journal/vm-change-recorder.ts'
import type { Consoles } from './consoles.ts'
import type { MachineUi } from './machine-ui.ts'
import type { Meter } from './meter.ts'

export interface Local {
  readonly host: Host
  readonly forwards: Forwards
  readonly journal: Journal
  readonly changeRecorder: VmChangeRecorder
  readonly operations: Operations
  readonly meter: Meter
  readonly consoles: Consoles
  readonly webUi: MachineUi
  /** Whether every request must carry a token. */
  readonly isLocked: boolean
  /** Stops all guests, because the machine is shutting down. */
  readonly stopGuests: (way: StopWay) => Promise<StoppedGuests>
}

/** The caller: the user that owns the other end of the connection. */
export interface LocalCaller {
  readonly uid: number
  /** Whether the request carries the token, or none is required; a page requested by a browser may lack it. */
  readonly carriesToken?: boolean
  /** The same, without the session of a browser. */
  readonly carriesTokenItself?: boolean
  /** Whether the caller prefers an operation to follow over waiting for long work. */
  readonly respondAsync?: boolean
  /** Receives the progress of the work, from 0 to 100, if it is followed. */
  readonly progress?: OnProgress
  /** How the caller prefers a page to be sent. */
  readonly page?: FileRequest
  /** Whether a person reads the answer, rather than a program. */
  readonly reads?: boolean
  /** The Cookie header. */
  readonly cookie?: string | undefined
  /** The last event id that the caller received on an earlier event stream. */
  readonly lastEventId?: string | undefined
}

export interface RouteEffects {
  /**
   * What events report of it; required if the method is not GET. 'vms': it creates or deletes a VM, or changes its power state or
   * name. Otherwise the part of a VM.
   */
  readonly changes?: readonly ('vms' | ChangedPart)[]
  /** What an operation must remember of the request, if it may take long. */
  readonly operation?: (params: unknown, body: unknown) => Omit<NewOperation, 'name'>
}

export type LocalRoute = Route<Local, LocalCaller, 'local'> & RouteEffects
export const route = routeFactory<Local, LocalCaller, 'local', unknown, RouteEffects>()
