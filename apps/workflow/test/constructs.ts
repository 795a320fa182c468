// One run for each construct, covering everything that affects the history.
import type { Json } from '@skerry/serverless-workflow'

export interface Construct {
  readonly tasks: string
  readonly input?: Json
  /** Sent when the run waits for an event. */
  readonly event?: { readonly type: string; readonly data: Json }
}

export const constructs: Readonly<Record<string, Construct>> = {
  set: {
    tasks: `- a: { set: { n: '\${ .n + 1 }', plain: '\${ .n }' }, export: { as: '$context + { n: .n }' } }`,
    input: { n: 1 },
  },
  flow: {
    tasks: `- a: { if: '.n > 0', set: { n: '\${ .n - 1 }' }, then: a2 }
- never: { set: '1' }
- a2: { switch: [ { again: { when: '.n > 0', then: a } }, { over: { then: end } } ] }`,
    input: { n: 2 },
  },
  for: {
    tasks: `- a: { for: { in: .list }, while: '$index < 2', do: [ { b: { set: { list: '\${ .list }', last: '\${ $item * 2 }' } } } ] }`,
    input: { list: [1, 2, 3] },
  },
  fork: {
    tasks: `- a: { fork: { branches: [ { b: { set: { x: '\${ 1 + 1 }' } } }, { c: { do: [ { d: { wait: PT0.05S } }, { e: { call: skerry.test.yes } } ] } } ] } }`,
  },
  compete: {
    tasks: `- a: { fork: { compete: true, branches: [ { b: { wait: PT0.05S } }, { c: { wait: PT10M } }, { d: { call: skerry.test.slow } } ] } }`,
  },
  try: {
    tasks: `- a:
    try: [ { b: { call: skerry.test.no } } ]
    catch:
      errors: { with: { status: 403 } }
      when: '$error.status == 403'
      retry: { delay: PT0.01S, backoff: { exponential: {} }, jitter: { from: PT0.001S, to: PT0.01S }, limit: { attempt: { count: 2 } } }
      do: [ { c: { set: { was: '\${ $error.status }' } } } ]`,
  },
  timeout: {
    tasks: `- a: { try: [ { b: { wait: PT10M, timeout: { after: PT0.05S } } } ], catch: { do: [ { c: { set: '\${ $error.status }' } } ] } }`,
  },
  listen: {
    tasks: `- a: { listen: { to: { one: { with: { type: tide, data: '.m > 1' } } } } }`,
    event: { type: 'tide', data: { m: 2 } },
  },
  raise: {
    tasks: `- a: { raise: { error: { type: 'urn:x', status: 400, title: '\${ "no \\(.n)" }' } } }`,
    input: { n: 1 },
  },
  schema: {
    tasks: `- a: { input: { schema: { document: { type: object } } }, set: { n: 1 }, output: { schema: { document: { required: [n] } } } }`,
  },
  call: {
    tasks: `- a: { call: skerry.test.yes, with: { n: '\${ .n | tostring }' }, output: { as: .input.n } }`,
    input: { n: 1 },
  },
  run: {
    tasks: `- a: { run: { workflow: { namespace: test, name: inner, version: latest, input: { n: '\${ 20 + 1 }' } } } }\n- b: { run: { workflow: { namespace: test, name: inner, version: latest }, await: false } }`,
  },
}
