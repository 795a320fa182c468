import type { TObject, TSchema } from '@skerry/schema'

import type { Route } from './route.ts'

/** The general part of the reference. */
export interface About {
  readonly title: string
  readonly version: string
  readonly description: string
  readonly server: string
  /** The schema of every error response, if `details` has none. */
  readonly refusal?: TSchema
  /** The heading of a route. */
  group(row: DescribedRow): string
  /** For an API with credentials, or with bodies that are not described by their rows. */
  readonly details?: ApiDetails
}

/** Media types and their schemas. */
export type ContentTypes = Readonly<Record<string, { readonly schema: object }>>

/** What an API has beyond plain JSON without credentials. `Row`: any property of its routes may matter. */
export interface ApiDetails<Row extends DescribedRow = DescribedRow> {
  /** An identifier: generators make a function of it. */
  operationId(row: Row): string
  requestBody(row: Row): { readonly required: boolean; readonly content: ContentTypes } | undefined
  /** The bodies of a response; undefined: it has none. */
  answer(row: Row, what: TSchema | string): ContentTypes | undefined
  readonly refusal: ContentTypes
  /** Header parameters, as references to components. */
  parameters(row: Row): readonly object[]
  headers(row: Row, status: number): Readonly<Record<string, object>>
  /** The alternatives of credentials; empty: none are needed. */
  security(row: Row): readonly object[]
  /** Schemas, parameters, headers and security schemes. */
  readonly components: Readonly<Record<string, Readonly<Record<string, object>>>>
}

/** A route without its handler: all that the reference needs. */
export type DescribedRow = Pick<
  Route<unknown, unknown, string>,
  'name' | 'method' | 'path' | 'query' | 'takes' | 'answers' | 'doc'
>

/** The routes as an OpenAPI 3.1 document. */
export function openApi(rows: readonly DescribedRow[], about: About): object {
  const paths: Record<string, Record<string, object>> = {}
  for (const row of rows) {
    const path = row.path.replaceAll(/:(\w+)/g, '{$1}')
    const at = (paths[path] ??= {})
    at[row.method.toLowerCase()] = operation(row, about)
  }
  const { title, version, description } = about
  return {
    openapi: '3.1.0',
    info: { title, version, description },
    servers: [{ url: about.server }],
    tags: [...new Set(rows.map((row) => about.group(row)))].map((name) => ({ name })),
    paths,
    components: componentsOf(about),
  }
}

function componentsOf({ refusal: schema, details }: About): object {
  const text = 'The request failed; the body describes the error.'
  if (!details) {
    return { schemas: { Refusal: schema }, responses: { Refusal: refusal(text) } }
  }
  const { refusal: content, components } = details
  return { ...components, responses: { Refusal: { description: text, content } } }
}

/** The words after ':' in a path, in their order. */
export const pathNames = (path: string): string[] =>
  [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name)

function operation(row: DescribedRow, about: About): object {
  const { details } = about
  const parameters = [
    ...pathNames(row.path).map(pathParameter),
    ...queryParameters(row.query),
    ...(details?.parameters(row) ?? []),
  ]
  const requestBody = details ? details.requestBody(row) : plainBody(row)
  return {
    operationId: details?.operationId(row) ?? row.name,
    tags: [about.group(row)],
    summary: firstSentence(row.doc),
    description: row.doc,
    ...(parameters.length > 0 && { parameters }),
    ...(requestBody && { requestBody }),
    responses: responses(row, details),
    ...(details && { security: details.security(row) }),
  }
}

function responses(row: DescribedRow, details: ApiDetails | undefined): object {
  const other = { $ref: '#/components/responses/Refusal' }
  const described = Object.entries(row.answers).map(([status, what]) => {
    if (!details) return [status, answer(what)]
    const content = details.answer(row, what)
    const headers = details.headers(row, Number(status))
    return [status, { description: 'Done.', headers, ...(content && { content }) }]
  })
  const refused = details
    ? Object.fromEntries(Object.keys(refusals(row)).map((status) => [status, other]))
    : refusals(row)
  return { ...Object.fromEntries(described), ...refused, default: other }
}

const plainBody = ({ takes }: DescribedRow): object | undefined =>
  takes && { required: true, content: { [takes.media]: { schema: schemaOf(takes.shape) } } }

/** Errors that follow from the route itself; any other is described by `default`. */
function refusals(row: DescribedRow): Record<number, object> {
  return {
    ...((row.takes ?? row.query) && { 400: refusal('The request is invalid.') }),
    403: refusal('The caller is not allowed to do this.'),
    ...(row.path.includes(':') && { 404: refusal('Not found.') }),
    ...(row.method !== 'GET' && { 409: refusal('The request conflicts with the current state.') }),
  }
}

const refusal = (description: string): object => ({
  description,
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Refusal' } } },
})

/** A schema means JSON; a string with a slash is a media type; any other string describes the body. */
function answer(what: TSchema | string): object {
  if (typeof what !== 'string') {
    return { description: 'Done.', content: { 'application/json': { schema: what } } }
  }
  if (!what.includes('/')) return { description: `Done; the body is ${what}.` }
  const schema = what.startsWith('text/') ? { type: 'string' } : {}
  return { description: 'Done.', content: { [what]: { schema } } }
}

const pathParameter = (name: string): object => ({
  name,
  in: 'path',
  required: true,
  schema: { type: 'string' },
})

function queryParameters(query: TObject | undefined): object[] {
  const required: readonly string[] = query?.required ?? []
  return Object.entries(query?.properties ?? {}).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema,
  }))
}

const schemaOf = (shape: object | string): object =>
  typeof shape === 'string' ? { type: 'string', description: shape } : shape

const firstSentence = (doc: string): string =>
  /^.*?[.;](?= |$)/.exec(doc)?.[0].replace(/[.;]$/, '') ?? doc
