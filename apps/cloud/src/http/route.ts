import type { Static, TObject } from '@skerry/schema'
import {
  routeFactory,
  type Answer,
  type Params,
  type Route,
  type RouteRequest,
} from '@skerry/service'

import type { Caller } from '../auth/caller.ts'
import type { RequestContext } from '../context.ts'
import type { Tx } from '../database/tables.ts'
import type { AnswerName } from '../dialect/document-elements.ts'
import type { Permission } from '../domain/roles.ts'
import type { PathResources } from './path-resources.ts'

interface CloudParts {
  /** Also for users who need a second factor and have none yet. */
  readonly withoutSecondFactor?: true
  /** Whether the header with the code of a second factor counts. */
  readonly takesCode?: true
  /** Also for callers without the right with whom something is shared: its handler decides, and shows them nothing else. */
  readonly forShared?: true
  readonly answers: Readonly<Record<number, AnswerName>>
  /** Reads what the response needs besides the resources of the path, in the transaction that loads them. */
  // A method, not a property: routes of different paths must fit into one array.
  reads?(tx: Tx, params: object): Promise<unknown>
}
export type CloudRoute = Route<RequestContext, Caller, Permission> & CloudParts
export const route = routeFactory<RequestContext, Caller, Permission, PathResources, CloudParts>()

interface Reading<Path extends string, Query extends TObject, Found> {
  readonly path: Path
  readonly query?: Query
  readonly read: (tx: Tx, params: Params<Path, PathResources>) => Promise<Found>
  readonly show: (
    context: RequestContext,
    request: RouteRequest<Path, PathResources, Static<Query>, undefined> & Caller,
    found: Found,
  ) => Answer
}

/** A GET whose resources and whatever else it reads are of one transaction: `read` reads, `show` makes the response. */
export const readRoute = <const Path extends string, Found, Query extends TObject = TObject<{}>>({
  read,
  show,
  ...row
}: Pick<CloudRoute, 'name' | 'permission' | 'since' | 'answers' | 'doc'> &
  Reading<Path, Query, Found>): CloudRoute =>
  route<Path, Query>({
    ...row,
    method: 'GET',
    reads: (tx, params) => read(tx, params as Params<Path, PathResources>),
    async handle(context, request) {
      return show(context, request, request.found as Found)
    },
  })
