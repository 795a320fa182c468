import { at } from '../addresses.ts'
import { queryList, queryResult } from '../documents/query-result.ts'
import { Hrefs } from '../http/links.ts'
import { parseQuery, QueryParameters } from '../query/query.ts'
import { route } from '../route.ts'
import { readRecords } from '../store/records.ts'

export const query = [
  route({
    name: 'runQuery',
    method: 'GET',
    path: at.query,
    permission: 'vm:read',
    query: QueryParameters,
    answers: { 200: 'query.records' },
    doc: 'Records of one type: filtered, sorted, a page at a time. Without a type: the types there are.',
    async handle(world, asker) {
      if (asker.query.type === undefined) {
        return { status: 200, body: queryList(asker, new Hrefs(world.base)) }
      }
      const parsed = parseQuery(asker.query)
      const found = await world.as(asker.who, (tx) => readRecords(tx, parsed))
      const asked = new URLSearchParams(asker.query as Record<string, string>)
      const page = { query: parsed, ...found, asked }
      return { status: 200, body: queryResult(page, asker, new Hrefs(world.base)) }
    },
  }),
]
