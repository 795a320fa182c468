import { Fault } from '@skerry/fault'

import type { Caller } from '../auth/caller.ts'
import type { RequestContext } from '../context.ts'
import { at } from '../dialect/addresses.ts'
import { queryList, queryResult } from '../documents/query-result.ts'
import { authorize } from '../domain/authorize.ts'
import { Hrefs } from '../http/links.ts'
import { route, type CloudRoute } from '../http/route.ts'
import { parseQuery, QueryParameters, typeNamed, type QueryInput } from '../query/query.ts'
import type { RecordType } from '../query/record-types.ts'
import { readRecords } from '../query/records.ts'

/** `path`: the requested path, which the links of the response contain. `within`: a filter that the path stands for. */
export async function answerQuery(
  context: RequestContext,
  caller: Caller & { readonly query: QueryInput },
  type: RecordType,
  { path, within }: { readonly path: string; readonly within?: string },
) {
  const { principal, query: requested } = caller
  authorize(principal, type.permission, 'none')
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
  const found = await readRecords(query, { asking, everywhere })
  const page = { query, found, path, events, requested: new URLSearchParams(requested) }
  return { status: 200, body: queryResult(page, caller, new Hrefs(context.base)) }
}

/** A query whose type is fixed by its path. */
const packaged = (name: string, path: string, typeName: string): CloudRoute => {
  const type = typeNamed(typeName)
  return route({
    name,
    method: 'GET',
    path,
    permission: type.permission,
    query: QueryParameters,
    answers: { 200: 'query.records' },
    doc: `Same as GET ${at.query}?type=${typeName}.`,
    async handle(context, caller) {
      if (caller.query.type !== undefined) {
        throw new Fault('invalid', `type must be omitted: ${path} always has the type ${typeName}`)
      }
      return answerQuery(context, caller, type, { path })
    },
  })
}

export const query: readonly CloudRoute[] = [
  route({
    name: 'runQuery',
    method: 'GET',
    path: at.query,
    permission: 'vm:read',
    query: QueryParameters,
    answers: { 200: 'query.records' },
    doc: 'Records of one type, filtered, sorted and in pages. Without a type: the list of types.',
    async handle(context, caller) {
      const { type } = caller.query
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
