import {
  openApi,
  type About,
  type ApiDetails,
  type ContentTypes,
  type DescribedRow,
} from '@skerry/service'

import { bodySchemas, documentSchemas } from '../documents/schemas.ts'
import { offersOf, type WorkflowRoute } from './route.ts'
import { media } from './wants.ts'

const DESCRIPTION =
  'Lists, imports, exports, runs and schedules workflows. Every document exists as XML and as JSON; this describes the JSON, which Accept: application/json returns. Every request has Basic credentials of a user of the cloud: user@organisation and password.'

/** The API: the web pages are for people. */
const isOfApi = ({ path }: DescribedRow): boolean => path.startsWith('/api') || path === '/health'

/** The OpenAPI 3.1 document of the workflow server, from its routes. */
export function workflowOpenApi(routes: readonly WorkflowRoute[], base: URL): object {
  const about: About = {
    title: 'Skerry workflow server',
    version: '5.1',
    description: DESCRIPTION,
    server: base.origin,
    group: groupOf,
    details,
  }
  return openApi(routes.filter(isOfApi), about)
}

/** 'workflow-execution' → 'WorkflowExecution'. */
const schemaName = (document: string): string =>
  document.replaceAll(/(?:^|-)([a-z])/g, (_, first: string) => first.toUpperCase())

const referenceTo = (document: string): { readonly schema: object } => ({
  schema: { $ref: `#/components/schemas/${schemaName(document)}` },
})

const details: ApiDetails<WorkflowRoute> = {
  operationId: ({ name }) => name,
  requestBody: bodyOf,
  answer: answerOf,
  refusal: { 'application/json': referenceTo('error') },
  parameters: ({ name }) =>
    name === 'startExecution' ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : [],
  headers: ({ name }, status) => ({
    'x-request-id': { $ref: '#/components/headers/RequestId' },
    ...((status === 201 || name === 'startExecution') && {
      location: { $ref: '#/components/headers/Location' },
    }),
  }),
  security: ({ permission }) => (permission === 'anyone' ? [] : [{ basic: [] }]),
  components: {
    schemas: {
      ...named(documentSchemas, schemaName),
      ...named(bodySchemas, (shape) => `${schemaName(shape)}Input`),
    },
    parameters: {
      IdempotencyKey: {
        name: 'Idempotency-Key',
        in: 'header',
        description: 'A request that is repeated with its key returns the same execution again.',
        schema: { type: 'string', minLength: 1, maxLength: 255 },
      },
    },
    headers: {
      RequestId: { description: 'The id of the request.', schema: { type: 'string' } },
      Location: { description: 'The address of the new resource.', schema: { type: 'string' } },
    },
    securitySchemes: {
      basic: { type: 'http', scheme: 'basic', description: 'user@organisation and password.' },
    },
  },
}

function named(
  schemas: Readonly<Record<string, object>>,
  nameOf: (document: string) => string,
): Readonly<Record<string, object>> {
  return Object.fromEntries(
    Object.entries(schemas).map(([document, schema]) => [nameOf(document), schema]),
  )
}

function bodyOf({ takes }: WorkflowRoute) {
  if (!takes || typeof takes.shape !== 'string') return undefined
  const file = { schema: { type: 'object', properties: { file: {} }, required: ['file'] } }
  const content: ContentTypes =
    takes.shape in bodySchemas
      ? { 'application/json': referenceTo(`${takes.shape}-input`) }
      : { 'multipart/form-data': file, 'application/octet-stream': { schema: {} } }
  return { required: false, content }
}

function answerOf(row: WorkflowRoute, document: unknown): ContentTypes | undefined {
  if (document === 'nothing') return undefined
  const plain = { schema: { type: 'string' } }
  const others = offersOf(row).filter((each) => each !== 'json' && each !== 'xml')
  const files = Object.fromEntries(others.map((each) => [media[each], plain]))
  if (typeof document !== 'string' || !Object.hasOwn(documentSchemas, document)) {
    return Object.keys(files).length > 0 ? files : { 'application/json': { schema: {} } }
  }
  return { 'application/json': referenceTo(document), ...files }
}

const groups: readonly (readonly [RegExp, string])[] = [
  [/^\/api\/schedules|\/tasks$/, 'Schedules'],
  [/interaction/i, 'User interactions'],
  [/\/executions/, 'Runs'],
  [/categor/i, 'Folders'],
  [/^\/api\/(workflows|catalog|inventory|content)/, 'Workflows'],
]

const groupOf = ({ path }: DescribedRow): string =>
  groups.find(([pattern]) => pattern.test(path))?.[1] ?? 'The server'
