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

/** `path`: the requested path, which the links of the response contain. */
async function answer(
  context: RequestContext,
  caller: Caller & { readonly query: QueryInput },
  type: RecordType,
  path: string,
) {
  const { principal, query: requested } = caller
  authorize(principal, type.permission, 'none')
  const events = type.resource === 'event' ? context.eventCursors(principal.org) : undefined
  const query = parseQuery(type, requested, { ...caller, events })
  const everywhere =
    type.reach === 'all' ||
    (type.reach === 'own or all' && principal.role === 'system administrator')
  const asking = context.reads(everywhere ? 'all' : principal.org)
  const found = await readRecords(query, { asking, everywhere })
  const page = { query, found, path, events, requested: new URLSearchParams(requested) }
  return { status: 200, body: queryResult(page, caller, new Hrefs(context.base)) }
}

/** A query whose type is fixed by its path. */
const packaged = (path: string, name: string): CloudRoute => {
  const type = typeNamed(name)
  return route({
    name: `query ${name}`,
    method: 'GET',
    path,
    permission: type.permission,
    query: QueryParameters,
    answers: { 200: 'query.records' },
    doc: `Same as GET ${at.query}?type=${name}.`,
    async handle(context, caller) {
      if (caller.query.type !== undefined) {
        throw new Fault('invalid', `type must be omitted: ${path} always has the type ${name}`)
      }
      return answer(context, caller, type, path)
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
        : answer(context, caller, typeNamed(type), at.query)
    },
  }),
  packaged(at.queryVms, 'vm'),
  packaged(at.queryVapps, 'vApp'),
  packaged(at.queryTemplates, 'vAppTemplate'),
  packaged(at.queryCatalogs, 'catalog'),
  packaged(at.queryOrgs, 'organization'),
  packaged(at.queryAllVms, 'adminVM'),
  packaged(at.queryAllVapps, 'adminVApp'),
  packaged(at.queryHosts, 'host'),
]
