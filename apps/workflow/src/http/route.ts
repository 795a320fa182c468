import { routeFactory, type Route } from '@skerry/service'

import type { WorkflowRequestContext } from '../context.ts'
import type { WorkflowPermission } from '../identity/rights.ts'
import type { WorkflowCaller } from './caller.ts'
import type { PathWorkflows } from './path-workflows.ts'
import type { ResponseFormat } from './wants.ts'

type Row = Route<WorkflowRequestContext, WorkflowCaller, WorkflowPermission>

export interface WorkflowRoute extends Row {
  /** The response formats, the default first. Default: XML and JSON. */
  readonly offers?: readonly ResponseFormat[]
}

export const route = routeFactory<
  WorkflowRequestContext,
  WorkflowCaller,
  WorkflowPermission,
  PathWorkflows
>()

export const withFormats = (offers: readonly ResponseFormat[], row: Row): WorkflowRoute => ({
  ...row,
  offers,
})

export const documents = ['xml', 'json'] as const satisfies ResponseFormat[]
export const offersOf = ({ offers = documents }: WorkflowRoute): readonly ResponseFormat[] => offers
