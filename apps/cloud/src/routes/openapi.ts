import { at } from '../dialect/addresses.ts'
import { cloudOpenApi } from '../documents/openapi.ts'
import { route, type CloudRoute } from '../http/route.ts'

/** The route that describes all routes, itself included. */
export function describing(others: readonly CloudRoute[]): CloudRoute {
  // Built on first use, once for each listener.
  const written = new Map<string, Buffer>()
  const row: CloudRoute = route({
    name: 'readOpenApi',
    method: 'GET',
    path: at.openApi,
    permission: 'anyone',
    answers: { 200: 'application/json' },
    doc: 'The OpenAPI 3.1 document of this API, for generators of clients.',
    async handle({ base }, { dialect }) {
      const key = `${dialect.name} ${base.origin}`
      const body =
        written.get(key) ?? Buffer.from(render(cloudOpenApi([...others, row], { dialect, base })))
      written.set(key, body)
      return { status: 200, body }
    },
  })
  return row
}

/** Indented: people read it too. */
const render = (document: object): string => `${JSON.stringify(document, undefined, 2)}\n`
