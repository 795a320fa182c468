import type { TObject, TSchema } from 'typebox'

import type { Route } from './route.ts'

/** What the reference says beside the rows. */
export interface About {
  readonly title: string
  readonly version: string
  readonly description: string
  readonly server: string
  /** What every refusal looks like. */
  readonly refusal: TSchema
  /** Under which heading a row stands. */
  group(row: DescribedRow): string
}

/** A row without what it does: all that a reader needs. */
export type DescribedRow = Pick<
  Route<unknown, unknown, string>,
  'name' | 'method' | 'path' | 'query' | 'takes' | 'answers' | 'doc'
>

/** The rows as an OpenAPI 3.1 document. */
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
    components: {
      schemas: { Refusal: about.refusal },
      responses: { Refusal: refusal('It was not done, and why.') },
    },
  }
}

/** The words after ':' in a path, in their order. */
export const pathNames = (path: string): string[] =>
  [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name)

function operation(row: DescribedRow, about: About): object {
  const parameters = [...pathNames(row.path).map(pathParameter), ...queryParameters(row.query)]
  return {
    operationId: row.name,
    tags: [about.group(row)],
    summary: firstSentence(row.doc),
    description: row.doc,
    ...(parameters.length > 0 && { parameters }),
    ...(row.takes && {
      requestBody: {
        required: true,
        content: { [row.takes.media]: { schema: schemaOf(row.takes.shape) } },
      },
    }),
    responses: {
      ...Object.fromEntries(
        Object.entries(row.answers).map(([status, what]) => [status, answer(what)]),
      ),
      ...refusals(row),
      default: { $ref: '#/components/responses/Refusal' },
    },
  }
}

/** Those that follow from the row itself; any other comes as `default`. */
function refusals(row: DescribedRow): Record<number, object> {
  return {
    ...((row.takes ?? row.query) && { 400: refusal('The request is not one that can be read.') }),
    403: refusal('Whoever asks may not.'),
    ...(row.path.includes(':') && { 404: refusal('There is no such thing.') }),
    ...(row.method !== 'GET' && { 409: refusal('It cannot be done as things are now.') }),
  }
}

const refusal = (description: string): object => ({
  description,
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Refusal' } } },
})

/** A schema is JSON; the name of a media type is that; any other word says what comes instead. */
function answer(what: TSchema | string): object {
  if (typeof what !== 'string') {
    return { description: 'Done.', content: { 'application/json': { schema: what } } }
  }
  if (!what.includes('/')) return { description: `Done; the body is ${what}.` }
  const schema = what.startsWith('text/') ? { type: 'string' } : {}
  return { description: 'Done.', content: { [what]: { schema } } }
}

const pathParameter = (name: string): object => ({
  ...{ name, in: 'path', required: true },
  schema: { type: 'string' },
})

function queryParameters(query: TObject | undefined): object[] {
  const required: readonly string[] = query?.required ?? []
  return Object.entries(query?.properties ?? {}).map(([name, schema]) => ({
    ...{ name, in: 'query', required: required.includes(name) },
    schema,
  }))
}

const schemaOf = (shape: object | string): object =>
  typeof shape === 'string' ? { type: 'string', description: shape } : shape

const firstSentence = (doc: string): string =>
  /^.*?[.;](?= |$)/.exec(doc)?.[0].replace(/[.;]$/, '') ?? doc
