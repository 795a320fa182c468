import { Fault } from '@skerry/fault'

import { at } from '../addresses.ts'
import { queryList, queryResult } from '../documents/query-result.ts'
import type { Asker } from '../http/asker.ts'
import { Hrefs } from '../http/links.ts'
import { authorize } from '../identity/authorize.ts'
import { parseQuery, QueryParameters, typeNamed, type Asked } from '../query/query.ts'
import type { RecordType } from '../query/record-types.ts'
import { route, type CloudRoute } from '../route.ts'
import { readRecords } from '../store/records.ts'
import type { RequestWorld } from '../world.ts'

/** `path`: the address that was asked, and that the links of the answer name. */
async function answer(
  world: RequestWorld,
  asker: Asker & { readonly query: Asked },
  type: RecordType,
  path: string,
) {
  const { who, query: asked } = asker
  authorize(who, type.permission, 'none')
  const query = parseQuery(type, asked, asker)
  const everywhere =
    type.reach === 'all' || (type.reach === 'own or all' && who.role === 'system administrator')
  const asking = world.reads(everywhere ? 'all' : who.org)
  const found = await readRecords(query, { asking, everywhere })
  const page = { query, found, path, asked: new URLSearchParams(asked) }
  return { status: 200, body: queryResult(page, asker, new Hrefs(world.base)) }
}

/** A query whose type stands in its address. */
const packaged = (path: string, name: string): CloudRoute => {
  const type = typeNamed(name)
  return route({
    name: `query ${name}`,
    method: 'GET',
    path,
    permission: type.permission,
    query: QueryParameters,
    answers: { 200: 'query.records' },
    doc: `As GET ${at.query}?type=${name}.`,
    async handle(world, asker) {
      if (asker.query.type !== undefined) {
        throw new Fault('invalid', `type stands in the address: ${path} is of type ${name}`)
      }
      return answer(world, asker, type, path)
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
    doc: 'Records of one type: filtered, sorted, a page at a time. Without a type: the types there are.',
    async handle(world, asker) {
      const { type } = asker.query
      return type === undefined
        ? { status: 200, body: queryList(asker, new Hrefs(world.base)) }
        : answer(world, asker, typeNamed(type), at.query)
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
