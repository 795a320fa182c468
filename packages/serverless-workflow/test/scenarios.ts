// The published conformance scenarios of the Serverless Workflow DSL 1.0, restated with our own definitions and our own test server.
// Scenarios outside the subset (emit, OpenAPI) are rejected at import, which parse.test.ts shows. One list, for the interpreter
// alone and for the interpreter on Temporal.
import assert from 'node:assert/strict'

import type { RunEnd } from '../src/interpreter/interpret.ts'
import type { Json, StepNote } from '../src/interpreter/verbs.ts'

export interface Scenario {
  readonly name: string
  /** The tasks as YAML. */
  readonly tasks: string
  readonly input?: Json
  readonly expect: (ended: RunEnd, steps: readonly StepNote[]) => void
}

const gives = (output: Json) => (ended: RunEnd) =>
  assert.deepEqual(ended, { ended: 'completed', output })
const outputOf = (ended: RunEnd): Record<string, Json> => {
  assert.equal(ended.ended, 'completed', JSON.stringify(ended))
  return (ended as { output: Record<string, Json> }).output
}
const begun = (steps: readonly StepNote[]) =>
  steps.filter(({ what }) => what === 'began').map(({ name }) => name)

const beads = (name: string, more = '') =>
  `- ${name}: { set: { beads: '\${ .beads + ["${name}"] }' }${more === '' ? '' : `, ${more}`} }`

export const scenariosAt = (host: string): readonly Scenario[] => [
  ...calls(host),
  ...dataFlow(host),
  ...flow(),
  ...race(),
  ...errorsAndSets(),
  ...switches(),
  ...tries(host),
]

const race = (): Scenario[] => [
  {
    name: 'fork: one of the competing branches returns the output',
    tasks: `
- race:
    fork:
      compete: true
      branches:
        - amber: { set: { beads: '\${ .beads + ["amber"] }' } }
        - jet: { set: { beads: '\${ .beads + ["jet"] }' } }
        - pearl: { set: { beads: '\${ .beads + ["pearl"] }' } }`,
    expect: (ended) => assert.equal((outputOf(ended)['beads'] as Json[]).length, 1),
  },
]

const calls = (host: string): Scenario[] => [
  {
    name: 'call http: JSON content from a URI template, with filtered output',
    tasks: `
- find:
    call: http
    with: { method: get, endpoint: { uri: '${host}/islands?status={status}' } }
    output: { as: '.[0]' }`,
    input: { status: 'dry' },
    expect: gives({ id: 1, name: 'Skerry', status: 'dry' }),
  },
  {
    name: 'call http: the whole response',
    tasks: `
- get:
    call: http
    with: { method: get, endpoint: { uri: '${host}/islands/{id}' }, output: response }`,
    input: { id: 1 },
    expect: (ended) => {
      const { request, headers, statusCode, content } = outputOf(ended)
      assert.deepEqual(request, { method: 'GET', uri: `${host}/islands/1`, headers: {} })
      assert.equal(typeof headers, 'object')
      assert.equal(statusCode, 200)
      assert.deepEqual(content, { id: 1, name: 'Skerry', status: 'dry' })
    },
  },
  {
    name: 'call http: basic authentication',
    tasks: `
- knock:
    call: http
    with:
      method: get
      endpoint:
        uri: ${host}/door/{user}/{word}
        authentication: { basic: { username: '\${ .user }', password: '\${ .word }' } }`,
    input: { user: 'keeper', word: 'lantern' },
    expect: gives({ open: true }),
  },
]

const dataFlow = (host: string): Scenario[] => [
  {
    name: 'data flow: the input is filtered',
    tasks: `
- name: { input: { from: .boat.master.name }, set: { master: '\${ . }' } }`,
    input: { boat: { master: { name: 'Ines' } } },
    expect: gives({ master: 'Ines' }),
  },
  {
    name: 'data flow: the output is filtered',
    tasks: `
- get:
    call: http
    with: { method: get, endpoint: { uri: '${host}/islands/{id}' } }
    output: { as: .id }`,
    input: { id: 1 },
    expect: gives(1),
  },
  {
    name: 'data flow: a value that is not an object is passed on unchanged',
    tasks: `
- one:
    call: http
    with: { method: get, endpoint: { uri: '${host}/islands/{id}' } }
    output: { as: .id }
- two:
    call: http
    with: { method: get, endpoint: { uri: '${host}/islands/2' } }
    output: { as: '{ both: [ $input, .id ] }' }`,
    input: { id: 1 },
    expect: gives({ both: [1, 2] }),
  },
]

const flow = (): Scenario[] => [
  {
    name: 'do: inner tasks run in order',
    tasks: `
- string:
    do:
      ${beads('amber')}
      ${beads('jet')}
      ${beads('pearl')}`,
    expect: gives({ beads: ['amber', 'jet', 'pearl'] }),
  },
  {
    name: 'flow: in sequence',
    tasks: [beads('amber'), beads('jet'), beads('pearl')].join('\n'),
    expect: (ended, steps) => {
      gives({ beads: ['amber', 'jet', 'pearl'] })(ended)
      assert.deepEqual(begun(steps), ['amber', 'jet', 'pearl'])
    },
  },
  {
    name: 'flow: with flow directives',
    tasks: [
      beads('amber', 'then: jet'),
      beads('pearl', 'then: end'),
      beads('jet', 'then: pearl'),
    ].join('\n'),
    expect: (ended, steps) => {
      gives({ beads: ['amber', 'jet', 'pearl'] })(ended)
      assert.deepEqual(begun(steps), ['amber', 'jet', 'pearl'])
    },
  },
  {
    name: 'for: a custom name for the item, the default name for the index',
    tasks: `
- each:
    for: { each: bead, in: .box }
    do:
      - thread:
          set:
            string: '\${ { beads: (.string.beads + [$bead]), places: (.string.places + [$index]) } }'`,
    input: { box: ['amber', 'jet', 'pearl'] },
    expect: gives({ string: { beads: ['amber', 'jet', 'pearl'], places: [0, 1, 2] } }),
  },
]

const errorsAndSets = (): Scenario[] => [
  {
    name: 'raise: a custom error',
    tasks: `
- stop:
    raise:
      error: { status: 400, type: 'https://skerry.example/errors/tide', title: Tide is out }`,
    expect: (ended) =>
      assert.deepEqual(ended, {
        ended: 'failed',
        error: {
          status: 400,
          type: 'https://skerry.example/errors/tide',
          title: 'Tide is out',
          instance: '/do/0/stop',
        },
      }),
  },
  {
    name: 'set: literals and expressions',
    tasks: `
- sail: { set: { rig: sloop, size: '\${ .plan.size }', colour: '\${ .plan.colour }' } }`,
    input: { plan: { size: { long: 9, wide: 3 }, colour: 'red' } },
    expect: gives({ rig: 'sloop', size: { long: 9, wide: 3 }, colour: 'red' }),
  },
]

const tries = (host: string): Scenario[] => [
  {
    name: 'try: a matching error is caught, and its handler sees it',
    tasks: tryTasks(host, 404),
    input: { name: 'Atlantis' },
    expect: (ended) => {
      const error = outputOf(ended)['error'] as Record<string, Json>
      assert.equal(error['status'], 404)
      assert.equal(error['instance'], '/do/0/attempt/try/0/find')
      assert.match(JSON.stringify(error['type']), /errors\/communication"$/)
      assert.equal(typeof error['title'], 'string')
    },
  },
  {
    name: 'try: another error is not caught',
    tasks: tryTasks(host, 503),
    input: { name: 'Atlantis' },
    expect: (ended) => {
      assert.equal(ended.ended, 'failed')
      assert.equal(ended.ended === 'failed' && ended.error.status, 404)
    },
  },
]

/** The type as the scenarios write it, which differs from the specification. */
function tryTasks(host: string, status: number): string {
  return `
- attempt:
    try:
      - find: { call: http, with: { method: get, endpoint: { uri: '${host}/islands/by-name/{name}' } } }
    catch:
      errors:
        with: { type: 'https://serverlessworkflow.io/dsl/errors/types/communication', status: ${status} }
      as: what
      do:
        - keep: { set: { error: '\${ $what }' } }`
}

function switches(): Scenario[] {
  const cases = `
      - isAmber: { when: '.bead == "amber"', then: amber }
      - isJet: { when: '.bead == "jet"', then: jet }`
  return [
    {
      name: 'switch: the matching case',
      tasks: `
- choose:
    switch:${cases}
${beads('amber', 'then: end')}
${beads('jet', 'then: end')}`,
      input: { bead: 'jet' },
      expect: (ended, steps) => {
        gives({ beads: ['jet'] })(ended)
        assert.deepEqual(begun(steps), ['choose', 'jet'])
      },
    },
    {
      name: 'switch: no case matches, and the task’s own directive applies',
      tasks: `
- choose:
    switch:${cases}
    then: end
${beads('amber')}
${beads('jet')}`,
      input: { bead: 'coral' },
      expect: (ended, steps) => {
        gives({ bead: 'coral' })(ended)
        assert.deepEqual(begun(steps), ['choose'])
      },
    },
    {
      name: 'switch: a default case',
      tasks: `
- choose:
    switch:${cases}
      - rest: { then: other }
${beads('amber')}
${beads('jet')}
- other: { set: { beads: '\${ .beads + [ $input.bead ] }' } }`,
      input: { bead: 'coral' },
      expect: (ended, steps) => {
        gives({ beads: ['coral'] })(ended)
        assert.deepEqual(begun(steps), ['choose', 'other'])
      },
    },
  ]
}

export const definitionOf = (name: string, tasks: string): string =>
  `document: { dsl: '1.0.0', namespace: test, name: ${name}, version: '1.0.0' }\ndo:\n${tasks
    .split('\n')
    .map((line) => `  ${line}`)
    .join('\n')}\n`
