import { isFromPage, markAuthenticated, type Edge } from '@skerry/service'
import type { Element } from '@skerry/xml'
import type { FastifyRequest } from 'fastify'

import type { Caller } from '../auth/caller.ts'
import { defaultRetention } from '../config.ts'
import type { RequestContext } from '../context.ts'
import { wasAccepted, type RequestKey } from '../database/request-keys.ts'
import { readAccept } from '../dialect/accept.ts'
import type { Dialect } from '../dialect/dialect.ts'
import { knownVersion, versionOf, type Version } from '../dialect/version.ts'
import {
  authorize,
  requireSecondFactor,
  type OwnedResource,
  type Principal,
} from '../domain/authorize.ts'
import { withAccess, type SharedTarget } from '../sharing/shared-access.ts'
import type { Admission } from './admission.ts'
import { isJsonBody, sendDocument, xmlOfJson } from './format.ts'
import { codeIn } from './page-request.ts'
import { resourceFinders, sharedAs } from './path-resources.ts'
import { requestKeyOf } from './request-key.ts'
import type { CloudRoute } from './route.ts'

interface IdentifiedCaller {
  readonly version: Version
  readonly principal: Principal
  readonly token: string
}

const anonymous = { user: '', role: 'console only' } as Principal

/** Inbound: version, caller, resources, right, in this order. Outbound: media type and version. */
export function makeEdge(
  context: RequestContext,
  admission: Admission,
  dialect: Dialect,
): Edge<Caller, CloudRoute> {
  const identified = new WeakMap<FastifyRequest, IdentifiedCaller>()
  const identify = async (row: CloudRoute, request: FastifyRequest): Promise<IdentifiedCaller> => {
    const { accept } = request.headers
    if (row.permission === 'anyone') {
      const { version } = request.params as { readonly version?: string }
      return { version: knownVersion(version, accept), principal: anonymous, token: '' }
    }
    const isPlain =
      isVersionless(row) &&
      readAccept(accept).version === undefined &&
      dialect.pageCookie !== undefined &&
      isFromPage(request, context.base.origin)
    const version = isPlain ? knownVersion(undefined, accept) : versionOf(accept, row.since)
    const found = { version, ...(await admission(row, request)) }
    markAuthenticated(request.raw.socket)
    if (row.permission !== 'login' && row.withoutSecondFactor !== true) {
      requireSecondFactor(found.principal)
    }
    return found
  }

  return {
    async identify(row, request) {
      identified.set(request, await identify(row, request))
    },
    async admit(row, request) {
      const { headers } = request
      const requested = request.params as Readonly<Record<string, string>>
      const known = identified.get(request) ?? (await identify(row, request))
      const { version, token } = known
      const key = requestKeyOf(request, row.takes !== undefined)
      const asking = { context, row, principal: known.principal, key }
      const { params, found, principal } = await load(requested, asking)
      const lastEventId = headers['last-event-id']?.toString()
      const { taskDays = defaultRetention.taskDays } = context
      const caller: Caller = {
        principal,
        token,
        version,
        dialect,
        isPage: dialect.pageCookie !== undefined && isFromPage(request, context.base.origin),
        code: codeIn(request, dialect),
        lastEventId,
        request: key,
        taskDays,
        found,
      }
      return { caller, params, ...bodyOf(row, request) }
    },
    send,
  }
}

const send: Edge<Caller, CloudRoute>['send'] = (
  reply,
  row,
  { dialect: { media, namespace }, version },
  { status, headers = {}, body },
) => {
  const answer = reply.code(status).headers(headers)
  if (body === undefined) return answer.send()
  const document = row.answers[status]
  if (document === undefined) {
    throw new TypeError(`route ${row.name} declares no document for status ${status}`)
  }
  if (document === 'events') return answer.send(body)
  if (Buffer.isBuffer(body)) return answer.type(document).send(body)
  if (typeof body === 'string') {
    return answer.type(`${media(document)};version=${version}`).send(body)
  }
  const root = body as Element
  // A route may return one of several documents: the type in the document decides.
  const contentType = root.attributes['type']?.split(';')[0] ?? media(document)
  return sendDocument(answer, rooted(root, namespace(document)), {
    media: contentType,
    version,
  })
}

/** Pictures, tables and event streams are the same in every version, and pages ask for them with the Accept header of their browser. */
const isVersionless = ({ answers }: CloudRoute): boolean =>
  Object.values(answers).some((answer) => ['events', 'image/png', 'text/csv'].includes(answer))

/** A body in JSON, as the document that its route reads. Only after the caller is authorized: others learn nothing about bodies. */
function bodyOf({ takes }: CloudRoute, request: FastifyRequest): { readonly body?: string } {
  if (typeof takes?.shape !== 'string' || takes.open || !isJsonBody(request)) return {}
  return { body: xmlOfJson(request.body as string, takes.shape) }
}

export const rooted = (root: Element, namespace: string): Element => ({
  ...root,
  attributes: { xmlns: namespace, ...root.attributes },
})

interface Loaded {
  /** The caller, with what shares give at the resource of the path. */
  readonly principal: Principal
  /** The path's parameters, with each resource in place of its id. */
  readonly params: object
  /** What the route reads besides. */
  readonly found: unknown
}

/** Loads and authorizes the resources of the path, and reads what the route needs besides, in one transaction. */
async function load(
  requested: Readonly<Record<string, string>>,
  {
    context,
    row,
    principal,
    key,
  }: {
    readonly context: RequestContext
    readonly row: CloudRoute
    readonly principal: Principal
    readonly key: RequestKey | undefined
  },
): Promise<Loaded> {
  const params: Record<string, unknown> = { ...requested }
  const named = Object.entries(resourceFinders).filter(([name]) => requested[name] !== undefined)
  const isOpen = row.permission === 'anyone' || row.permission === 'login'
  if (!isOpen && named.length === 0 && row.forShared !== true) {
    authorize(principal, row.permission, 'none')
  }
  if (named.length === 0 && !row.reads) return { params, found: undefined, principal }
  let acting = principal
  const found = await context.as(principal, async (tx) => {
    for (const [name, find] of named) {
      const id = requested[name] ?? ''
      const resource: OwnedResource | undefined =
        (await find(tx, id, { principal })) ??
        // A delete whose response was lost is repeated when the resource is already gone.
        (key && (await wasAccepted(tx, principal, key))
          ? await find(tx, id, { principal, gone: true })
          : undefined)
      acting = resource
        ? await withAccess(tx, principal, resource.org, targetOf(name, resource))
        : principal
      authorize(acting, row.permission, resource)
      params[name] = resource
    }
    return row.reads?.(tx, params)
  })
  return { params, found, principal: acting }
}

/** By whose shares the resource of a ':name' is reached. */
function targetOf(name: string, resource: OwnedResource): SharedTarget | undefined {
  const of = (
    sharedAs as Readonly<Record<string, ((found: never) => SharedTarget | undefined) | undefined>>
  )[name]
  return of?.(resource as never)
}
