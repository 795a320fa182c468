import {
  openApi,
  type About,
  type ApiDetails,
  type ContentTypes,
  type DescribedRow,
} from '@skerry/service'
import { jsonMedia, jsonSchemas, type NamedSchemas } from '@skerry/xml'

import type { Dialect } from '../dialect/dialect.ts'
import {
  documentElements,
  documentsIn,
  otherResults,
  type DocumentName,
} from '../dialect/document-elements.ts'
import { shapes } from '../dialect/shapes.ts'
import { advertisedVersions } from '../dialect/version.ts'
import type { CloudRoute } from '../http/route.ts'

const reference = (kind: string, name: string): object => ({ $ref: `#/components/${kind}/${name}` })

/** The documents of responses and of requests as JSON Schemas. `taken`: the elements that requests contain. */
export const documentSchemas = (taken: readonly string[] = []): NamedSchemas =>
  jsonSchemas(shapes, { answered: [...new Set(Object.values(documentElements).flat())], taken })

/** The elements that the body of a route may be: 'VApp or Vm'. */
const takenBy = ({ takes }: CloudRoute): readonly string[] =>
  typeof takes?.shape === 'string' && !takes.open ? takes.shape.split(' or ') : []

/** The OpenAPI 3.1 document of the cloud API in a dialect, from its routes. */
export function cloudOpenApi(
  routes: readonly CloudRoute[],
  { dialect, base }: { readonly dialect: Dialect; readonly base: URL },
): object {
  const named = documentSchemas([...new Set(routes.flatMap(takenBy))])
  const about: About = {
    title: 'Skerry cloud',
    version: advertisedVersions.at(-1) ?? '',
    description: DESCRIPTION,
    server: base.origin,
    group: groupOf,
    details: detailsOf(dialect, named),
  }
  return openApi(routes, about)
}

const DESCRIPTION =
  'Virtual machines, vApps, templates, tasks and tenants of a cloud. Every document exists as XML and as JSON; this describes the JSON. Ask for it with Accept: application/json, or with application/*+json;version=V to choose the version. Log in with POST /api/sessions and Basic credentials of user@organisation, and send the token of the response as a Bearer token. Long operations return a Task: read its href until its status is success, error or canceled.'

/** Words that cannot be the name of a function in many languages. */
const renamed: Readonly<Record<string, string>> = { delete: 'deleteEntity' }

function detailsOf(dialect: Dialect, named: NamedSchemas): ApiDetails<CloudRoute> {
  return {
    operationId: ({ name }) => renamed[name] ?? name,
    requestBody: (row) => bodyOf(row, dialect, named),
    answer: (_row, what) => (typeof what === 'string' ? answerOf(what, dialect, named) : undefined),
    refusal: documentContent(['error'], dialect, named),
    parameters: ({ method }) =>
      method === 'GET' ? [] : [reference('parameters', 'IdempotencyKey')],
    headers: ({ answers, name }, status) => headersOf({ answers, name }, status, dialect),
    security({ permission }) {
      if (permission === 'anyone') return []
      return permission === 'login' ? [{ basic: [] }] : [{ bearer: [] }, { token: [] }]
    },
    components: { ...fixedComponents(dialect), schemas: named.schemas },
  }
}

function bodyOf(row: CloudRoute, dialect: Dialect, named: NamedSchemas) {
  const { takes } = row
  if (!takes) return undefined
  if (takes.open) {
    return { required: true, content: { 'application/octet-stream': { schema: {} } } }
  }
  const schema = oneOf(takenBy(row).map((each) => named.request(each)))
  const content = {
    'application/json': { schema },
    [jsonMedia(dialect.media(takes.media))]: { schema },
  }
  return { required: !isOptional(takes), content }
}

/** Whether the route accepts an empty body, which means the defaults. */
function isOptional(takes: NonNullable<CloudRoute['takes']>): boolean {
  try {
    takes.read('')
    return true
  } catch {
    return false
  }
}

function answerOf(answer: string, dialect: Dialect, named: NamedSchemas): ContentTypes | undefined {
  const documents = documentsIn(answer)
  if (documents.length > 0) return documentContent(documents, dialect, named)
  if (answer === 'nothing') return undefined
  if (answer === 'events') return { 'text/event-stream': { schema: { type: 'string' } } }
  if (answer === 'schema') return { [dialect.media('schema')]: { schema: { type: 'string' } } }
  return { [answer]: { schema: {} } }
}

/** Plain JSON, which any client can ask for, and the type of each document. */
function documentContent(
  documents: readonly DocumentName[],
  { media }: Dialect,
  { answer }: NamedSchemas,
): ContentTypes {
  const schemaOf = (names: readonly DocumentName[]) =>
    oneOf(names.flatMap((name) => documentElements[name].map((each) => answer(each))))
  const all = documents.flatMap((name) => [name, ...(otherResults[name] ?? [])])
  return {
    'application/json': { schema: schemaOf(documents) },
    ...Object.fromEntries(
      all.map((name) => [jsonMedia(media(name)), { schema: schemaOf([name]) }]),
    ),
  }
}

const oneOf = (schemas: readonly object[]): object =>
  schemas.length === 1 ? (schemas[0] ?? {}) : { anyOf: schemas }

function headersOf(
  { answers, name }: Pick<CloudRoute, 'answers' | 'name'>,
  status: number,
  { tokenHeader, requestIdHeader }: Dialect,
): Readonly<Record<string, object>> {
  const hasLocation = status === 201 || (status === 202 && answers[202] === 'task')
  return {
    [requestIdHeader]: reference('headers', 'RequestId'),
    ...(hasLocation && { location: reference('headers', 'Location') }),
    ...(name === 'createSession' && { [tokenHeader]: reference('headers', 'Token') }),
  }
}

const text = { schema: { type: 'string' } }

const fixedComponents = ({ tokenHeader }: Dialect) => ({
  parameters: {
    IdempotencyKey: {
      name: 'Idempotency-Key',
      in: 'header',
      description: 'A request that is repeated with its key returns the same task again.',
      schema: { type: 'string', minLength: 1, maxLength: 255 },
    },
  },
  headers: {
    RequestId: { description: 'The id of the request, as in the log of the cell.', ...text },
    Location: { description: 'The address of the new resource, or of the task.', ...text },
    Token: { description: 'The token of the session, for all later requests.', ...text },
  },
  securitySchemes: {
    basic: { type: 'http', scheme: 'basic', description: 'user@organisation and password.' },
    bearer: { type: 'http', scheme: 'bearer', description: 'A session or API token.' },
    token: { type: 'apiKey', in: 'header', name: tokenHeader },
  },
})

/** The noun after /api; what is administered has a group of its own. */
function groupOf({ path }: DescribedRow): string {
  const [, noun = ''] = path.split('/').slice(1)
  return groups.find(([pattern]) => pattern.test(noun))?.[1] ?? 'Virtual machines'
}

const groups: readonly (readonly [RegExp, string])[] = [
  [/^(session|versions|v:version|openapi)/, 'Sessions'],
  [/^(task|event)/, 'Tasks and events'],
  [/quer|^(vms|vApps|vAppTemplates|catalogs)$/, 'Queries'],
  [/^(org|vdc|catalog|vAppTemplate|entity|transfer)/, 'Organisations and templates'],
  [/^admin/, 'Administration'],
]
