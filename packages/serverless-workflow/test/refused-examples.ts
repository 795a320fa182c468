import type { Construct } from './subset-examples.ts'

const aTask = 'do:\n  - rest:\n      wait: PT1S\n'

const one = (task: string): string => `do:\n  - step:\n      ${task.replaceAll('\n', '\n      ')}\n`

export const unsupported: readonly Construct[] = [
  {
    name: 'emit',
    about: '',
    example: one(
      'emit:\n  event:\n    with:\n      source: https://a.example\n      type: com.example.v1',
    ),
    refused: 'emit',
  },
  {
    name: 'run container',
    about: '',
    example: one('run:\n  container:\n    image: alpine'),
    refused: 'run container',
  },
  {
    name: 'run script',
    about: '',
    example: one('run:\n  script:\n    language: js\n    code: 1'),
    refused: 'run script',
  },
  {
    name: 'run shell',
    about: '',
    example: one('run:\n  shell:\n    command: ls'),
    refused: 'run shell',
  },
  {
    name: 'run … return',
    about: '',
    example: one("run:\n  workflow: { namespace: a, name: b, version: '1.0.0' }\n  return: all"),
    refused: 'run return',
  },
  {
    name: 'call grpc',
    about: '',
    example: one(
      'call: grpc\nwith:\n  proto: { endpoint: https://a.example/p }\n  service: { name: S, host: a }\n  method: M',
    ),
    refused: 'call grpc',
  },
  {
    name: 'call openapi',
    about: '',
    example: one(
      'call: openapi\nwith:\n  document: { endpoint: https://a.example/p }\n  operationId: o',
    ),
    refused: 'call openapi',
  },
  {
    name: 'call asyncapi',
    about: '',
    example: one(
      'call: asyncapi\nwith:\n  document: { endpoint: https://a.example/p }\n  operation: o\n  message: {}',
    ),
    refused: 'call asyncapi',
  },
  {
    name: 'a function of a catalog',
    about: '',
    example: one('call: log:1.0.0@global'),
    refused: 'a function of a catalog',
  },
  {
    name: 'listen … until',
    about: '',
    example: one('listen:\n  to:\n    any: [ { with: { type: a } } ]\n    until: .done'),
    refused: 'listen until',
  },
  {
    name: 'listen … foreach',
    about: '',
    example: one('listen:\n  to:\n    one:\n      with: { type: a }\nforeach:\n  do: []'),
    refused: 'listen foreach',
  },
  {
    name: 'correlate',
    about: '',
    example: one(
      'listen:\n  to:\n    one:\n      with: { type: a }\n      correlate:\n        id: { from: .id }',
    ),
    refused: 'correlate',
  },
  {
    name: 'schedule',
    about: '',
    example: `schedule: { cron: '0 0 * * *' }\n${aTask}`,
    refused: 'schedule',
  },
  {
    name: 'use.secrets',
    about: '',
    example: `use: { secrets: [token] }\n${aTask}`,
    refused: 'use secrets',
  },
  {
    name: '$secrets',
    about: '',
    example: one('set: { a: "${ $secrets.token }" }'),
    refused: 'use secrets',
  },
  {
    name: 'use.catalogs',
    about: '',
    example: `use: { catalogs: { mine: { endpoint: https://a.example } } }\n${aTask}`,
    refused: 'use catalogs',
  },
  {
    name: 'use.extensions',
    about: '',
    example: `use: { extensions: [ { log: { extend: all } } ] }\n${aTask}`,
    refused: 'use extensions',
  },
  {
    name: 'digest authentication',
    about: '',
    example: `use: { authentications: { a: { digest: { username: a, password: b } } } }\n${aTask}`,
    refused: 'authentication digest',
  },
  {
    name: 'OAuth 2 authentication',
    about: '',
    example: `use: { authentications: { a: { oauth2: { authority: https://a.example } } } }\n${aTask}`,
    refused: 'authentication oauth2',
  },
  {
    name: 'OpenID Connect authentication',
    about: '',
    example: `use: { authentications: { a: { oidc: { authority: https://a.example } } } }\n${aTask}`,
    refused: 'authentication oidc',
  },
  {
    name: 'a password or token in the definition',
    about: '',
    example: one(
      'call: http\nwith:\n  method: get\n  endpoint:\n    uri: https://a.example\n    authentication:\n      basic: { username: me, password: secret }',
    ),
    refused: 'a password in the definition',
  },
  {
    name: 'a schema that must be fetched',
    about: '',
    example: `input: { schema: { resource: { endpoint: https://a.example/schema.json } } }\n${aTask}`,
    refused: 'schema resource',
  },
  {
    name: 'evaluate',
    about: '',
    example: `evaluate: { language: javascript }\n${aTask}`,
    refused: 'evaluate',
  },
]
