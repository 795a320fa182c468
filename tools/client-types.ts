// OpenAPI document → packages/api-client/src/documents.gen.ts: the types of all documents, and of every operation.

interface Schema {
  readonly $ref?: string
  /** Several: a value of any of them. */
  readonly type?: string | readonly string[]
  readonly const?: string
  readonly enum?: readonly (string | number)[]
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly description?: string
}
type Content = Readonly<Record<string, { readonly schema: Schema }>>
interface Operation {
  readonly operationId: string
  readonly description: string
  readonly parameters?: readonly { readonly in?: string; readonly name?: string }[]
  readonly requestBody?: { readonly content: Content; readonly required?: boolean }
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

const JSON_TYPE = 'application/json'

export function clientTypes(openApi: object): string {
  const { paths, components } = openApi as Document
  const operations = Object.entries(paths)
    .flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
    )
    .filter(({ operation }) => isJson(operation))
  return [
    '// Generated from the OpenAPI document of the cloud by `npm run reference`; do not edit.',
    '',
    '/** The documents of responses and requests by name. A name that ends in Input is a part of a document, for a request. */',
    'export interface CloudDocuments {',
    ...Object.entries(components.schemas).flatMap(([name, schema]) => [
      ...commentOf(schema, '  '),
      `  readonly ${name}: ${typeOf(schema, '  ')}`,
    ]),
    '}',
    '',
    '/** What each operation takes and returns. */',
    'export interface CloudOperations {',
    ...operations.flatMap(({ operation }) => [
      `  /** ${operation.description.replaceAll('*/', '* /')} */`,
      `  readonly ${operation.operationId}: ${shapeOf(operation)}`,
    ]),
    '}',
    '',
    '/** The method and path of each operation. */',
    'export const cloudOperations = {',
    ...operations.map(
      ({ operation, method, path }) =>
        `  ${operation.operationId}: { method: '${method.toUpperCase()}', path: '${path}' },`,
    ),
    '} as const satisfies Readonly<Record<keyof CloudOperations, object>>',
    '',
  ].join('\n')
}

/** Whether the documents of an operation are described. Files, pictures and streams have other clients. */
const isJson = ({ responses, requestBody }: Operation): boolean => {
  const isDescribed = (content: Content): boolean =>
    Object.keys(content[JSON_TYPE]?.schema ?? {}).length > 0
  const done = Object.entries(responses).filter(([status]) => status.startsWith('2'))
  return [requestBody?.content, ...done.map(([, { content }]) => content)].every(
    (content) => content === undefined || isDescribed(content),
  )
}

function shapeOf({ parameters = [], requestBody, responses }: Operation): string {
  const named = (where: string) => parameters.filter((each) => each.in === where)
  const params = named('path').map(({ name }) => `readonly ${name}: string`)
  const query = named('query').map(({ name }) => `readonly ${name}?: string`)
  const answers = Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .map(([, { content }]) => (content ? jsonIn(content) : 'undefined'))
  const body = requestBody && jsonIn(requestBody.content)
  return [
    '{',
    ...(params.length > 0 ? [`    readonly params: { ${params.join('; ')} }`] : []),
    ...(query.length > 0 ? [`    readonly query?: { ${query.join('; ')} }`] : []),
    ...(body === undefined
      ? []
      : [`    readonly body${requestBody?.required ? '' : '?'}: ${body}`]),
    `    readonly answer: ${[...new Set(answers)].join(' | ')}`,
    '  }',
  ].join('\n')
}

const jsonIn = (content: Content): string => typeOf(content[JSON_TYPE]?.schema ?? {}, '    ')

function typeOf(schema: Schema, indent: string): string {
  const { $ref, enum: values, anyOf, oneOf, items, properties, type } = schema
  if ($ref !== undefined) return `CloudDocuments['${$ref.split('/').at(-1)}']`
  if (schema.const !== undefined) return literal(schema.const)
  if (values) return values.map(literal).join(' | ')
  const among = anyOf ?? oneOf
  if (among) return among.map((each) => typeOf(each, indent)).join(' | ')
  if (items) return `readonly (${typeOf(items, indent)})[]`
  if (properties) return objectType(schema, indent)
  return [type ?? ''].flat().map(plainType).join(' | ')
}

const plainType = (type: string): string =>
  ({ integer: 'number', boolean: 'boolean', string: 'string', null: 'null' } as const)[type] ??
  'unknown'

function objectType({ properties = {}, required = [] }: Schema, indent: string): string {
  const inside = `${indent}  `
  return [
    '{',
    ...Object.entries(properties).flatMap(([key, schema]) => [
      ...commentOf(schema, inside),
      `${inside}readonly ${key}${required.includes(key) ? '' : '?'}: ${typeOf(schema, inside)}`,
    ]),
    `${indent}}`,
  ].join('\n')
}

const literal = (value: string | number): string =>
  typeof value === 'number' ? String(value) : `'${value}'`

const commentOf = ({ description }: Schema, indent: string): string[] =>
  description === undefined ? [] : [`${indent}/** ${description.replaceAll('*/', '* /')} */`]
