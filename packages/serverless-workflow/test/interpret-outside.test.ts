// Goal: the interaction of a run with others: events, users, functions, other runs, servers, cancellation. Method: as interpret.test.ts.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { startEvaluator } from '@skerry/jq'

import type { Json } from '../src/interpreter/verbs.ts'
import { errorOf, outputOf, waysWith } from './both-ways.ts'
import { type RunningRun, runSmall } from './small-runtime.ts'
import { startStandIn, type StandIn } from './stand-in.ts'

const evaluator = startEvaluator()
const { once, both } = waysWith(evaluator)
let host: StandIn
before(async () => {
  host = await startStandIn()
})
after(async () => {
  await host[Symbol.asyncDispose]()
  await evaluator[Symbol.asyncDispose]()
})

test('a run receives events, also earlier ones, and consumes each once', async () => {
  const tasks = `
- any: { listen: { to: { any: [ { with: { type: tide.high, data: .metres > 2 } }, { with: { type: storm } } ] } } }
- keep: { set: '\${ .[0] }' }
- all:
    listen: { to: { all: [ { with: { type: bell } }, { with: { type: storm } } ] }, read: envelope }
    output: { as: '[.[] | .type]' }
    export: { as: . }`
  const hears = () => {
    let sent = false
    return {
      hears: (running: RunningRun) => {
        if (sent) return
        sent = true
        running.send({ type: 'storm' })
        running.send({ type: 'tide.high', data: { metres: 1 } })
        running.send({ type: 'bell' })
        running.send({ type: 'tide.high', data: { metres: 3 } })
        setTimeout(() => running.send({ type: 'storm', data: 'second' }), 50)
      },
    }
  }
  const end = await both(tasks, {}, hears)
  assert.deepEqual(outputOf(end), ['bell', 'storm'])
  assert.ok(end.states.includes('waiting-signal'))
})

test('a user is asked, and only the answer to that question is accepted', async () => {
  const tasks = `
- ask:
    metadata:
      interaction: { title: '\${ "Sink \\(.boat)?" }', form: { type: object, properties: { yes: { type: boolean } } } }
    listen: { to: { one: { with: { type: skerry.interaction } } } }
    output: { as: '.[0].yes' }`
  const hears = () => {
    const answered = new Set<string>()
    return {
      hears: ({ reported, send }: RunningRun) => {
        const ask = reported
          .flatMap(({ asks }) => asks)
          .find(({ question }) => question !== undefined)
        if (ask === undefined || answered.has(ask.id)) return
        answered.add(ask.id)
        send({ type: 'skerry.interaction', id: 'another', data: { yes: false } })
        setTimeout(() => send({ type: 'skerry.interaction', id: ask.id, data: { yes: true } }), 20)
      },
    }
  }
  const end = await both(tasks, { boat: 'Ida' }, hears)
  assert.equal(outputOf(end), true)
  const [requested, over] = end.asks
  assert.equal(requested?.question?.title, 'Sink Ida?')
  assert.deepEqual(over, { id: requested?.id, place: '/do/0/ask' })
})

test('built-in functions get a key each, functions of the document run as tasks', async () => {
  const document = `document: { dsl: '1.0.0', namespace: test, name: functions, version: '1.0.0' }
use:
  functions:
    twice: { do: [ { a: { call: skerry.test.add, with: { n: '\${ .n }' } } }, { b: { call: skerry.test.add, with: { n: '\${ .sum }' } } } ] }
do:
  - each:
      for: { in: '[1, 10]' }
      do: [ { use: { call: twice, with: { n: '\${ $item }' }, output: { as: .sum } } } ]
`
  const functions = {
    'skerry.test.add': async (input: Json) => ({ sum: (input as { n: number }).n * 2 }),
  }
  const { parse } = await import('yaml')
  const plain = await runSmall(document, {}, { evaluator, functions })
  const left = await runSmall(parse(document) as never, {}, { evaluator, functions, leaves: true })
  assert.equal(outputOf(plain), 40)
  assert.equal(outputOf(left), 40)
  const keys = plain.calls.map(({ key }) => key)
  assert.equal(new Set(keys).size, 4)
  assert.deepEqual(
    left.calls.map(({ key }) => key),
    keys,
  )
  assert.ok(keys.every((key) => /^run-1\/\d+$/.test(key)))
})

test('a child workflow gets its input and returns its output', async () => {
  const options = () => ({
    child: async ({
      name,
      version,
      input,
      key,
    }: {
      name: string
      version: string
      input: Json
      key: string
    }) => ({ name, version, input, keyed: /^run-1\/\d+$/.test(key) }) satisfies Json,
  })
  const run = (more = '') => `
- inner: { run: { workflow: { namespace: a, name: b, version: '1.0.0', input: { x: '\${ .y }' } }${more} } }`
  const waited = await both(run(), { y: 5 }, options)
  assert.deepEqual(outputOf(waited), { name: 'b', version: '1.0.0', input: { x: 5 }, keyed: true })
  assert.deepEqual(outputOf(await both(run(', await: false'), { y: 5 }, options)), { y: 5 })
})

test('http: query, body and headers; redirects are not followed; credentials are not returned', async () => {
  const end = await both(
    `
- ask:
    call: http
    with:
      method: post
      endpoint: { uri: '\${ .host + "/echo" }', authentication: { use: door } }
      query: { a: '\${ .words }', b: x y }
      headers: { x-tide: '\${ .words[0] }' }
      body: { said: '\${ .words }' }
      output: response
    output: { as: '[.content.query, .content.body, .content.headers["x-tide"], (.request | keys)]' }`.replace(
      ', authentication: { use: door }',
      '',
    ),
    { host: host.url, words: ['é', '&'] },
  )
  assert.deepEqual(outputOf(end), [
    '?a=%C3%A9&a=%26&b=x%20y',
    '{"said":["é","&"]}',
    'é',
    ['headers', 'method', 'uri'],
  ])
  const get = (more: string) =>
    `- get: { call: http, with: { method: get, endpoint: ${host.url}/moved${more} } }`
  assert.equal(errorOf(await both(get(''))).status, 302)
  assert.equal(outputOf(await both(get(', redirect: true'))), '')
  const missing = errorOf(
    await once(`- get: { call: http, with: { method: get, endpoint: '${host.url}/{nothing}' } }`),
  )
  assert.match(missing.detail ?? '', /needs nothing, which is missing in the input/)
})

test('a waiting run can be canceled, and everything under it stops', async () => {
  const tasks = `
- both:
    fork:
      branches:
        - slow: { do: [ { rest: { wait: { minutes: 5 } } } ] }
        - attempt: { try: [ { hear: { listen: { to: { one: { with: { type: never } } } } } } ], catch: {} }`
  const hears = ({ stop, reported }: RunningRun) => {
    if (reported.at(-1)?.state.startsWith('waiting') === true)
      setTimeout(() => stop.stop('canceled'), 10)
  }
  const end = await once(tasks, {}, { hears })
  assert.deepEqual(end.ended, { ended: 'canceled' })
  assert.equal(end.states.at(-1), 'canceled')
  const canceled = end.steps.filter(({ what }) => what === 'canceled').map(({ name }) => name)
  assert.deepEqual(canceled.sort(), ['attempt', 'both', 'hear', 'rest', 'slow'])
})
