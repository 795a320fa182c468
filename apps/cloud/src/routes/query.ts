import { Fault } from '@skerry/fault'

import type { Caller } from '../auth/caller.ts'
import type { RequestContext } from '../context.ts'
import { at } from '../dialect/addresses.ts'
import { queryList, queryResult } from '../documents/query-result.ts'
import { authorize, may, type Principal } from '../domain/authorize.ts'
import type { Permission } from '../domain/roles.ts'
import { Hrefs } from '../http/links.ts'
import { route, type CloudRoute } from '../http/route.ts'
import { parseQuery, QueryParameters, typeNamed, type QueryInput } from '../query/query.ts'
import type { RecordType } from '../query/record-types.ts'
import { readRecords } from '../query/records.ts'
import { hasShares } from '../sharing/shared-access.ts'

/** `path`: the requested path, which the links of the response contain. `within`: a filter that the path stands for. */
export async function answerQuery(
  context: RequestContext,
  caller: Caller & { readonly query: QueryInput },
  type: RecordType,
  { path, within }: { readonly path: string; readonly within?: string },
) {
  const { principal, query: requested } = caller
  if (type.shared) await requireSomething(context, principal, type.permission)
  else authorize(principal, type.permission, 'none')
  const sharedWith = may(principal, type.permission) ? undefined : principal
  const events = type.resource === 'event' ? context.eventCursors(principal.org) : undefined
  const { filter } = requested
  // Alone first: a parenthesis in it must not end the one that is put around it.
  const alone = parseQuery(type, requested, { ...caller, events })
  const both = [within, filter === undefined ? undefined : `(${filter})`].filter(
    (each) => each !== undefined,
  )
  const query =
    within === undefined
      ? alone
      : parseQuery(type, { ...requested, filter: both.join(';') }, { ...caller, events })
  const everywhere =
    type.reach === 'all' ||
    (type.reach === 'own or all' && principal.role === 'system administrator')
  const asking = context.reads(everywhere ? 'all' : principal.org)
  const found = await readRecords(query, { asking, everywhere, sharedWith })
  const page = { query, found, path, events, requested: new URLSearchParams(requested) }
  return { status: 200, body: queryResult(page, caller, new Hrefs(context.base)) }
}

/** Who lacks the right sees what is shared with them, if anything is. */
async function requireSomething(
  context: RequestContext,
  principal: Principal,
  permission: Permission,
): Promise<void> {
  if (may(principal, permission)) return
  if (await context.as(principal, (tx) => hasShares(tx, principal))) return
  authorize(principal, permission, 'none')
}

/** A query whose type is fixed by its path. */
const packaged = (name: string, path: string, typeName: string): CloudRoute => {
  const type = typeNamed(typeName)
  return route({
    name,
    method: 'GET',
    path,
    permission: type.permission,
    ...(type.shared && { forShared: true as const }),
    query: QueryParameters,
    answers: { 200: 'query.records' },
    doc: `Same as GET ${at.query}?type=${typeName}.`,
    async handle(context, caller) {
      if (type.shared) await requireSomething(context, caller.principal, type.permission)
      if (caller.query.type !== undefined) {
        throw new Fault('invalid', `type must be omitted: ${path} always has the type ${typeName}`)
      }
      return answerQuery(context, caller, type, { path })
    },
  })
}

const READS = 'vm:read' satisfies Permission

export const query: readonly CloudRoute[] = [
  route({
    name: 'runQuery',
    method: 'GET',
    path: at.query,
    permission: READS,
    forShared: true,
    query: QueryParameters,
    answers: { 200: 'query.records' },
    doc: 'Records of one type, filtered, sorted and in pages. Without a type: the list of types. Without the right: VMs, vApps, tasks, catalogs and templates that are shared with the caller.',
    async handle(context, caller) {
      const { type } = caller.query
      await requireSomething(context, caller.principal, READS)
      return type === undefined
        ? { status: 200, body: queryList(caller, new Hrefs(context.base)) }
        : answerQuery(context, caller, typeNamed(type), { path: at.query })
    },
  }),
  packaged('queryVms', at.queryVms, 'vm'),
  packaged('queryVapps', at.queryVapps, 'vApp'),
  packaged('queryTemplates', at.queryTemplates, 'vAppTemplate'),
  packaged('queryCatalogs', at.queryCatalogs, 'catalog'),
  packaged('queryOrgs', at.queryOrgs, 'organization'),
  packaged('queryAllVms', at.queryAllVms, 'adminVM'),
  packaged('queryAllVapps', at.queryAllVapps, 'adminVApp'),
  packaged('queryHosts', at.queryHosts, 'host'),
]
