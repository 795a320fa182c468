import { Fault } from '@skerry/fault'
import { markAuthenticated, type Edge } from '@skerry/service'
import type { FastifyRequest } from 'fastify'

import type { WorkflowRequestContext } from '../context.ts'
import { authorize, type OwnedWorkflow, type WorkflowPrincipal } from '../identity/rights.ts'
import type { WorkflowCaller } from './caller.ts'
import type { Identify } from './identify.ts'
import { workflowFinders, type PathWorkflows } from './path-workflows.ts'
import { offersOf, type WorkflowRoute } from './route.ts'
import { send } from './send.ts'
import { wants } from './wants.ts'

const anonymous = { user: '', role: 'console only' } as WorkflowPrincipal
const KEY_MAX = 255
/** Routes that a recently authenticated user can read while no cell is reachable: lists, definitions and exports. */
const readable: ReadonlySet<string> = new Set([
  'listWorkflows',
  'listCatalog',
  'listInventory',
  'listCategories',
  'readCategory',
  'readWorkflow',
  'readCatalogItem',
  'readCatalogCategory',
  'readContent',
  'listVersions',
])

/** Incoming: authentication, format, resources, authorization, in this order. Outgoing: the format. */
export function makeEdge(
  context: WorkflowRequestContext,
  identify: Identify,
): Edge<WorkflowCaller, WorkflowRoute> {
  const identified = new WeakMap<FastifyRequest, WorkflowPrincipal>()

  async function findThings(
    row: WorkflowRoute,
    principal: WorkflowPrincipal,
    requested: Readonly<Record<string, string>>,
  ) {
    const found: Partial<Record<keyof PathWorkflows, OwnedWorkflow>> = {}
    await context.as(principal, async (tx) => {
      for (const name of Object.keys(workflowFinders) as (keyof PathWorkflows)[]) {
        const id = requested[name]
        if (id === undefined) continue
        const resource = await workflowFinders[name](tx, id, {
          principal,
          found: found as Partial<PathWorkflows>,
        })
        authorize(principal, row.permission, resource)
        if (resource) found[name] = resource
      }
    })
    return found
  }

  return {
    async identify(row, request) {
      if (row.permission === 'anyone') return
      refuseForeignPage(request, context.base)
      const use = readable.has(row.name) ? 'read' : 'change'
      const principal = await identify(request, use)
      if (!principal) {
        throw new Fault('unauthenticated', 'send Basic credentials of user@organisation', {
          hint: 'use a user and password of the cloud',
        })
      }
      markAuthenticated(request.raw.socket)
      identified.set(request, principal)
    },
    async admit(row, request) {
      const { headers } = request
      const requested = request.params as Readonly<Record<string, string>>
      const principal = identified.get(request) ?? anonymous
      const format = wants(headers.accept, offersOf(row))
      const named = Object.keys(workflowFinders).some((name) => requested[name] !== undefined)
      const found = named ? await findThings(row, principal, requested) : {}
      authorize(principal, row.permission, 'none')
      const caller: WorkflowCaller = {
        principal,
        format,
        requestKey: keyOf(headers['idempotency-key']),
        ifNoneMatch: headers['if-none-match'],
        lastEventId: headers['last-event-id']?.toString(),
        principalNow: () => identify(request, 'change'),
      }
      return { caller, params: { ...requested, ...found } }
    },
    send: (reply, _row, { format }, answer) => send(reply, format, answer),
  }
}

/** A browser attaches cached credentials to requests from other sites too: reject those that change data. */
function refuseForeignPage({ method, headers }: FastifyRequest, base: URL): void {
  const { origin, host } = headers
  if (method === 'GET' || method === 'HEAD' || origin === undefined) return
  if (origin === base.origin || (host !== undefined && URL.parse(origin)?.host === host)) return
  throw new Fault('forbidden', 'requests from a page of another origin may not change data')
}

function keyOf(given: string | readonly string[] | undefined): string | undefined {
  if (given === undefined) return undefined
  if (typeof given === 'string' && given.length <= KEY_MAX && /^\P{Cc}+$/u.test(given)) return given
  throw new Fault(
    'invalid',
    `Idempotency-Key must be one value of at most ${KEY_MAX} characters without control characters`,
  )
}
