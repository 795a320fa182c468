import { Fault } from '@skerry/fault'
import {
  boundedListener,
  createApiServer,
  listenerBounds,
  mount,
  pathOf,
  refuseUnread,
  type ListenerTls,
} from '@skerry/service'
import type { FastifyInstance } from 'fastify'

import type { WorkflowRequestContext } from '../context.ts'
import { makeEdge } from './edge.ts'
import type { Identify } from './identify.ts'
import { WorkflowRefusal } from './refusal.ts'
import type { WorkflowRoute } from './route.ts'
import { sendFault, unreadDocument } from './send-fault.ts'

export interface WorkflowServerOptions {
  readonly tls?: ListenerTls
  /** Addresses shared by many clients, such as a load balancer's. */
  readonly sharedAddresses?: readonly string[] | undefined
  readonly requestId: () => string
  /** Adds request metrics, before any route. */
  readonly measured?: (server: FastifyInstance) => void
  readonly log: (message: string, cause?: unknown) => void
}

const BODY_MAX = 1024 * 1024

export function buildServer(
  context: WorkflowRequestContext,
  routes: readonly WorkflowRoute[],
  identify: Identify,
  { tls, sharedAddresses, requestId, log, measured }: WorkflowServerOptions,
): FastifyInstance {
  const server = createApiServer({
    listener: boundedListener({ bounds: listenerBounds.workflow, sharedAddresses }, tls),
    bodyBytesMax: BODY_MAX,
    router: { ignoreTrailingSlash: true, maxParamLength: 1024 },
    requestId: { header: 'x-request-id', next: requestId },
    // Clients of later releases use the same paths under /vco.
    rewriteUrl: (url) => url.replace(/^\/vco\/api(?=[/?]|$)/, '/api'),
    sendFault: sendFault(log),
    sendNotFound({ method, url }) {
      throw whyNotFound(routes, method, url)
    },
    refuseUnread: refuseUnread(unreadDocument),
  })
  measured?.(server)
  mount(server, routes, context, makeEdge(context, identify))
  return server
}

/** A known path with another method returns 405 with the allowed methods. */
function whyNotFound(
  routes: readonly WorkflowRoute[],
  method: string,
  url: string,
): Fault | WorkflowRefusal {
  const path = pathOf(url).replace(/(?<=.)\/$/, '')
  const methods = routes.filter((row) => fits(row.path, path)).map((row) => row.method)
  if (methods.length === 0) return new Fault('not-found', 'not found: no such path')
  const allow = [...new Set(methods)].join(', ')
  return new WorkflowRefusal(405, `expected the method ${allow}, not ${method}`, { allow })
}

function fits(pattern: string, path: string): boolean {
  const [wanted, given] = [pattern.split('/'), path.split('/')]
  return (
    wanted.length === given.length &&
    wanted.every((part, at) => part === given[at] || (part.startsWith(':') && given[at] !== ''))
  )
}
