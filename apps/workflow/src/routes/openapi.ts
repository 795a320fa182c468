import { at } from '../documents/addresses.ts'
import { workflowOpenApi } from '../http/openapi.ts'
import { withFormats, route, type WorkflowRoute } from '../http/route.ts'

/** The route that describes all routes, itself included. */
export function describing(others: readonly WorkflowRoute[]): WorkflowRoute {
  // Built on first use.
  let written: string | undefined
  const row: WorkflowRoute = withFormats(
    ['json'],
    route({
      name: 'readOpenApi',
      method: 'GET',
      path: at.openApi,
      permission: 'anyone',
      answers: { 200: 'openapi' },
      doc: 'The OpenAPI 3.1 document of this API, for generators of clients.',
      async handle({ base }) {
        written ??= `${JSON.stringify(workflowOpenApi([...others, row], base), undefined, 2)}\n`
        return { status: 200, body: written }
      },
    }),
  )
  return row
}
