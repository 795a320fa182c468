import { routeFactory, type Route } from '@skerry/service'

import type { Caller } from '../auth/caller.ts'
import type { RequestContext } from '../context.ts'
import type { Permission } from '../domain/roles.ts'
import type { PathResources } from './path-resources.ts'

export type CloudRoute = Route<RequestContext, Caller, Permission>
export const route = routeFactory<RequestContext, Caller, Permission, PathResources>()
