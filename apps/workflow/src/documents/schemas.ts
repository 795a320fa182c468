import { type TObject, type TSchema, Type } from '@skerry/schema'

// The JSON of every document, for the OpenAPI document. Every response in JSON of every test is compared with it.

const text = Type.String()
const time = Type.String({ format: 'date-time' })
const optional = Type.Optional

const exact = <Properties extends Record<string, TSchema>>(
  properties: Properties,
  description?: string,
): TObject<Properties> =>
  Type.Object(properties, {
    additionalProperties: false,
    ...(description !== undefined && { description }),
  })

const Link = exact(
  {
    rel: text,
    href: text,
    attributes: optional(Type.Array(exact({ name: text, value: text }))),
  },
  'Values of attributes are always text.',
)
const Relations = exact({ total: optional(Type.Integer()), link: Type.Array(Link) })

const Parameter = exact(
  {
    name: text,
    type: text,
    scope: optional(text),
    description: optional(text),
    value: optional(Type.Unknown({ description: 'By type: {"string": {"value": "John"}}.' })),
  },
  'An input or output. A secret has its name but an empty value.',
)
const Parameters = Type.Array(Parameter)

const Health = exact({ ready: Type.Boolean() })
const Failure = exact(
  { status: Type.Integer(), code: text, message: text, hint: optional(text) },
  'What failed, what was expected, and what to do next.',
)

const Execution = exact({
  href: text,
  relations: Relations,
  id: text,
  state: text,
  'input-parameters': Parameters,
  'output-parameters': Parameters,
  'start-date': optional(time),
  'end-date': optional(time),
  'started-by': text,
  name: text,
  version: text,
  'content-exception': optional(text),
  'current-item-display-name': optional(text),
  'current-item': optional(text),
  'business-state': optional(text),
})

const Schedule = exact({
  href: text,
  relations: Relations,
  id: text,
  name: text,
  workflow: text,
  state: text,
  'paused-because': optional(text),
  cron: optional(text),
  'every-seconds': optional(Type.Integer()),
  'time-zone': text,
  overlap: text,
  user: text,
  'create-date': time,
  'input-parameters': Parameters,
})

const Form = Type.Object({}, { description: 'A JSON Schema of the inputs.' })

const Interaction = exact({
  href: text,
  relations: Relations,
  id: text,
  name: text,
  description: text,
  approver: text,
  state: Type.Enum(['waiting', 'answered', 'expired']),
  workflow: text,
  'workflow-id': text,
  execution: text,
  'create-date': time,
  'answered-by': optional(text),
  'answer-date': optional(time),
  'input-parameters': Parameters,
  form: Form,
})

const ImportResult = exact({
  href: optional(text),
  status: optional(Type.Integer()),
  code: optional(text),
  message: optional(text),
  result: Type.Enum(['created', 'updated', 'unchanged', 'refused']),
  'dry-run': Type.Boolean(),
  id: optional(text),
  name: optional(text),
  version: optional(text),
  'previous-version': optional(text),
  category: optional(text),
  digest: optional(text),
  'schedules-paused': optional(Type.Integer()),
  complaints: Type.Array(
    exact({
      line: optional(Type.Integer()),
      column: optional(Type.Integer()),
      at: optional(text),
      message: text,
    }),
  ),
})

const Workflow = exact({
  href: text,
  'customized-icon': Type.Boolean(),
  relations: Relations,
  id: text,
  'input-parameters': Parameters,
  'output-parameters': Parameters,
  name: text,
  description: text,
  version: text,
  category: text,
  owner: text,
  organization: text,
  digest: text,
  'changed-at': time,
  tags: Type.Array(exact({ name: text })),
})

const LogEntry = exact({
  severity: text,
  'time-stamp': time,
  'time-stamp-val': Type.Integer(),
  'short-description': text,
  'long-description': optional(text),
  user: text,
  origin: text,
  number: Type.Integer(),
})

/** By the name in `answers` of a route. */
export const documentSchemas: Readonly<Record<string, TSchema>> = {
  error: Failure,
  health: Health,
  about: exact({ version: text, 'build-number': text, 'api-version': text }),
  services: exact({ service: Type.Array(exact({ name: text, href: text })) }),
  'inventory-items': exact({
    total: optional(Type.Integer()),
    start: optional(Type.Integer()),
    link: Type.Array(Link),
  }),
  workflow: Workflow,
  content: Type.Object({}, { description: 'The definition, in the Serverless Workflow DSL.' }),
  versions: exact({
    version: Type.Array(
      exact({
        name: text,
        current: Type.Boolean(),
        digest: text,
        'made-by': text,
        'made-at': time,
      }),
    ),
  }),
  permissions: exact({
    href: text,
    permission: Type.Array(exact({ principal: text, rights: text })),
  }),
  'catalog-item': exact({ href: text, relations: Relations }),
  category: exact({
    href: text,
    relations: Relations,
    id: text,
    name: text,
    description: text,
    path: text,
    type: text,
  }),
  presentation: exact({
    href: text,
    relations: Relations,
    name: text,
    description: text,
    'input-parameters': Parameters,
    form: Form,
  }),
  'presentation-instance': exact({
    valid: Type.Boolean(),
    messages: Type.Array(exact({ parameter: text, severity: text, code: text, summary: text })),
  }),
  'workflow-execution': Execution,
  'workflow-executions': exact({ href: text, total: Type.Integer(), relations: Relations }),
  'execution-state': exact({ value: text, state: text }),
  logs: exact({ logs: Type.Array(exact({ entry: LogEntry })) }),
  'user-interaction': Interaction,
  'user-interactions': exact({
    total: Type.Integer(),
    'user-interaction': Type.Array(Interaction),
  }),
  schedule: Schedule,
  schedules: exact({ total: Type.Integer(), schedule: Type.Array(Schedule) }),
  'import-report': ImportResult,
  drawing: exact({
    title: text,
    summary: text,
    column: Type.Object(
      {},
      { description: 'Steps from top to bottom, with their sizes, states and arrows.' },
    ),
  }),
}

const values = Type.Object({}, { description: 'The inputs by name.' })

/** The JSON of request bodies, by the `shape` of a route. */
export const bodySchemas: Readonly<Record<string, TSchema>> = {
  'execution-context': Type.Object(
    { input: optional(values), parameters: optional(Type.Array(Type.Unknown())) },
    { description: 'Plain values as `input`, or `parameters` with their types.' },
  ),
  schedule: Type.Object({
    name: text,
    workflow: optional(text),
    cron: optional(text),
    'every-seconds': optional(Type.Integer()),
    'time-zone': optional(text),
    overlap: optional(text),
    paused: optional(Type.Boolean()),
    input: optional(values),
    parameters: optional(Type.Array(Type.Unknown())),
  }),
  category: Type.Object({
    name: text,
    description: optional(text),
    'parent-category-id': optional(text),
  }),
  'log-request': Type.Object({ severity: optional(text), 'older-than': optional(Type.Unknown()) }),
}
