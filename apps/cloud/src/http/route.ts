import { routeFactory, type Route } from '@skerry/service'

import type { Caller } from '../auth/caller.ts'
import type { RequestContext } from '../context.ts'
import type { AnswerName } from '../dialect/document-elements.ts'
import type { Permission } from '../domain/roles.ts'
import type { PathResources } from './path-resources.ts'

interface Documents {
  readonly answers: Readonly<Record<number, AnswerName>>
}
export type CloudRoute = Route<RequestContext, Caller, Permission> & Documents
export const route = routeFactory<RequestContext, Caller, Permission, PathResources, Documents>()
