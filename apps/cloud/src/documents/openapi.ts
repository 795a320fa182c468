import {
  openApi,
  type About,
  type ApiDetails,
  type ContentTypes,
  type DescribedRow,
} from '@skerry/service'
import { jsonMedia, jsonSchemas, type NamedSchemas } from '@skerry/xml'

import type { Dialect } from '../dialect/dialect.ts'
import { documentElements, documentsIn, type DocumentName } from '../dialect/document-elements.ts'
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
  const all = documentSchemas([...new Set(routes.flatMap(takenBy))])
  const named = { ...all, schemas: distinguished(all, routes, dialect) }
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

/**
 * A response that may be one of several documents is recognised by its `type`: clients try one schema after the other, and a VM would pass
 * as a vApp.
 */
function distinguished(
  { schemas, answer }: NamedSchemas,
  routes: readonly CloudRoute[],
  { media }: Dialect,
): NamedSchemas['schemas'] {
  const alternatives = routes
    .flatMap(({ answers }) => Object.values(answers))
    .map((what) => (typeof what === 'string' ? documentsIn(what) : []))
    .filter((documents) => documents.length > 1)
  const changed = { ...schemas }
  for (const document of alternatives.flat()) {
    for (const element of documentElements[document]) {
      const name = String(answer(element)['$ref']).replace('#/components/schemas/', '')
      const type = { type: 'string', const: jsonMedia(media(document)) }
      changed[name] = {
        ...schemas[name],
        properties: { ...(schemas[name]?.['properties'] as object), type },
      }
    }
  }
  return changed
}

const DESCRIPTION =
  'Virtual machines, vApps, templates, tasks and tenants of a cloud. Every document exists as XML and as JSON; this describes the JSON. Ask for it with Accept: application/json, or with application/*+json;version=V to choose the version. Log in with POST /api/sessions and Basic credentials of user@organisation, and send the token of the response as a Bearer token. Long operations return a Task: read its href until its status is success, error or canceled.'

/** `delete` is reserved in many languages. Go clients call the parameters of X `XParams`, which is the name of two documents. */
const renamed: Readonly<Record<string, string>> = {
  delete: 'deleteEntity',
  upload: 'startUpload',
  createSnapshot: 'takeSnapshot',
}

/** What generators call the function of a route. */
const operationId = ({ name }: Pick<CloudRoute, 'name'>): string => renamed[name] ?? name

function detailsOf(dialect: Dialect, named: NamedSchemas): ApiDetails<CloudRoute> {
  return {
    operationId,
    requestBody: (row) => bodyOf(row, named),
    answer: (_row, what) => (typeof what === 'string' ? answerOf(what, dialect, named) : undefined),
    refusal: documentContent(['error'], named),
    parameters: ({ method, takesCode }) => [
      ...(method === 'GET' ? [] : [reference('parameters', 'IdempotencyKey')]),
      ...(takesCode ? [reference('parameters', 'SecondFactorHeader')] : []),
    ],
    headers: ({ answers, name }, status) => headersOf({ answers, name }, status, dialect),
    security({ permission }) {
      if (permission === 'anyone') return []
      return permission === 'login' ? [{ basic: [] }] : [{ bearer: [] }, { token: [] }]
    },
    components: { ...fixedComponents(dialect), schemas: named.schemas },
  }
}

function bodyOf(row: CloudRoute, named: NamedSchemas) {
  const { takes } = row
  if (!takes) return undefined
  if (takes.open) {
    return { required: true, content: { 'application/octet-stream': { schema: {} } } }
  }
  const schema = oneOf(takenBy(row).map((each) => named.request(each)))
  return { required: !isOptional(takes), content: { 'application/json': { schema } } }
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
  if (documents.length > 0) return documentContent(documents, named)
  if (answer === 'nothing') return undefined
  if (answer === 'events') return { 'text/event-stream': { schema: { type: 'string' } } }
  if (answer === 'schema') return { [dialect.media('schema')]: { schema: { type: 'string' } } }
  return { [answer]: { schema: {} } }
}

/**
 * Plain JSON only. Generators make a set of functions and types for each media type, some reject types with upper-case letters, and
 * clients of several types compare them without their parameters.
 */
function documentContent(
  documents: readonly DocumentName[],
  { answer }: NamedSchemas,
): ContentTypes {
  const elements = documents.flatMap((name) => documentElements[name])
  return { 'application/json': { schema: oneOf(elements.map((each) => answer(each))) } }
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

const fixedComponents = ({ tokenHeader, secondFactorHeader }: Dialect) => ({
  parameters: {
    IdempotencyKey: {
      name: 'Idempotency-Key',
      in: 'header',
      description: 'A request that is repeated with its key returns the same task again.',
      schema: { type: 'string', minLength: 1, maxLength: 255 },
    },
    SecondFactorHeader: {
      name: secondFactorHeader,
      in: 'header',
      description: 'The code of a second factor, or a recovery code, if the account has one.',
      schema: { type: 'string' },
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
