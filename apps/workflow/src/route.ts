import { rowsOf, type Route } from '@skerry/service'

import type { Asker } from './http/asker.ts'
import type { Things } from './http/things.ts'
import type { Format } from './http/wants.ts'
import type { Permission } from './identity/rights.ts'
import type { RequestWorld } from './world.ts'

type Row = Route<RequestWorld, Asker, Permission>

export interface WorkflowRoute extends Row {
  /** What it may come as, the default first; XML and JSON unless told. */
  readonly offers?: readonly Format[]
}

export const route = rowsOf<RequestWorld, Asker, Permission, Things>()

export const offering = (offers: readonly Format[], row: Row): WorkflowRoute => ({ ...row, offers })

export const documents = ['xml', 'json'] as const satisfies Format[]
export const offersOf = ({ offers = documents }: WorkflowRoute): readonly Format[] => offers
