// Goal: every run of a hostile definition ends soon, with a reason. Method: 200 definitions that are valid and malicious, each
// run by the interpreter with the real jq and the real egress. Invalid ones are rejected by definition.test.ts.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'

import { startEvaluator } from '@skerry/jq'
import { Raised, type HttpAnswer, type HttpCall } from '@skerry/serverless-workflow'

import { findTarget } from '../../apps/egress/src/allowed.ts'
import { fetchOut, outLimits } from '../../apps/egress/src/fetch-out.ts'
import { definitionOf } from '../../packages/serverless-workflow/test/scenarios.ts'
import { runSmall } from '../../packages/serverless-workflow/test/small-runtime.ts'

const evaluator = startEvaluator({ cpuMs: 100 })
after(async () => evaluator[Symbol.asyncDispose]())

const quoted = (text: string) => JSON.stringify(text)

const bombs = [
  '[range(1e12)]',
  'def f: f; f',
  'last(range(1e15))',
  '"a" * 1000000000',
  'def f: [f]; f',
  'reduce range(1e9) as $i (0; . + $i)',
  '[limit(1e9; repeat(1))]',
  'until(false; .)',
  'input',
  '"x" * 300000',
  'error("no")',
  '[recurse([.])]',
  '{} | .[range(1e9) | tostring] = 1',
]
/** Every place where an expression is allowed. */
const places: ((bomb: string) => string)[] = [
  (bomb) => `- a: { set: { x: ${quoted(`\${ ${bomb} }`)} } }`,
  (bomb) => `- a: { if: ${quoted(bomb)}, set: { x: 1 }, then: a }`,
  (bomb) => `- a: { for: { in: ${quoted(bomb)} }, do: [ { b: { set: { x: 1 } } } ] }`,
  (bomb) => `- a: { switch: [ { b: { when: ${quoted(bomb)}, then: a } } ], then: a }`,
  (bomb) => `- a: { set: { x: 1 }, output: { as: ${quoted(bomb)} } }`,
  (bomb) => `- a: { set: { x: 1 }, export: { as: ${quoted(bomb)} } }`,
  (bomb) => `- a: { input: { from: ${quoted(bomb)} }, set: { x: 1 } }`,
]

const inside = [
  '127.0.0.1',
  '127.1',
  '2130706433',
  '0177.0.0.1',
  '0x7f000001',
  '[::1]',
  '[::ffff:127.0.0.1]',
  '[::]',
  '0',
  '169.254.169.254',
  '[::ffff:a9fe:a9fe]',
  '[fd00:ec2::254]',
  '10.0.0.1',
  '192.168.0.1',
  '[fe80::1]',
  'localhost',
  'metadata.google.internal',
  'shore.example@127.0.0.1',
  '127.0.0.1#.shore.example',
  'inside.shore.example',
  'both.shore.example',
  'shore.example.evil.example',
]
const calls = inside.flatMap((host) => [
  `- a: { call: http, with: { method: get, endpoint: ${quoted(`https://${host}/latest`)} } }`,
  `- a: { call: http, with: { method: get, endpoint: ${quoted(`\${ "http://${host}:8281/" }`)} } }`,
])

const deep = (depth: number, inner: string): string =>
  depth === 0 ? inner : `{ do: [ { d${depth}: ${deep(depth - 1, inner)} } ] }`
const endless = Array.from({ length: 12 }, (_, n) => {
  const names = Array.from({ length: n + 1 }, (_, m) => `t${m}`)
  return names
    .map(
      (name, m) => `- ${name}: { set: { n: '\${ (.n // 0) + 1 }' }, then: t${(m + 1) % (n + 1)} }`,
    )
    .join('\n')
})
const loops = [
  ...endless,
  `- a: { try: [ { b: { raise: { error: { type: 'urn:x', status: 1 } } } } ], catch: { retry: { delay: PT0S } } }`,
  `- a: { try: [ { b: { set: 'error("x")' } } ], catch: { retry: {}, do: [ { c: { set: '1' } } ] } }`,
  `- a: { try: [ { b: { set: '1', then: b } } ], catch: { do: [ { c: { set: '1', then: c } } ] } }`,
  `- a: { fork: { branches: [ { b: { do: [ { c: { set: '1', then: c } } ] } }, { d: { wait: PT100H } } ] } }`,
  `- a: { fork: { compete: true, branches: [ { b: { do: [ { c: { set: '1', then: c } } ] } }, { d: { wait: PT100H } } ] } }`,
  `- a: { for: { in: '[range(400)]' }, do: [ { b: { for: { in: '[range(400)]' }, do: [ { c: { set: '1' } } ] } } ] }`,
  `- a: { for: { in: '[range(90000)]' }, do: [ { b: { set: '1' } } ] }`,
  `- a: { set: { x: '\${ [.x, .x, "0123456789"] }' }, then: a }`,
  `- a: { set: '1', export: { as: '[$context, $context]' }, then: a }`,
  `- a: { wait: PT9000H }`,
  `- a: { listen: { to: { one: { with: { type: never } } } } }`,
  `- a: { run: { workflow: { namespace: x, name: y, version: latest } } }`,
  `- a: { call: skerry.no.such }`,
  ...Array.from(
    { length: 20 },
    (_, n) => `- a: ${deep(n * 3, `{ set: '1' }`)}\n  \n- b: { set: '1', then: a }`,
  ),
  ...Array.from(
    { length: 20 },
    (_, n) =>
      `- a: { set: { x: ${quoted(`\${ ${'['.repeat(n * 40)}${']'.repeat(n * 40)} | .[0].a.b }`)} }, then: a }`,
  ),
]

/** Hostile DNS names. */
const names: Readonly<Record<string, readonly string[]>> = {
  'inside.shore.example': ['10.0.0.5'],
  'both.shore.example': ['93.184.215.14', '127.0.0.1'],
}
const rules = [{ host: '*.shore.example', ports: [443, 8281], schemes: ['http', 'https'] as const }]
let sent = 0
async function callOut({ method, uri }: HttpCall): Promise<HttpAnswer> {
  const way = {
    resolve: async (host: string) => names[host] ?? [],
    limits: { ...outLimits, timeMs: 2_000 },
  }
  try {
    const { status } = await fetchOut(
      way,
      rules,
      { method, uri, headers: {} },
      new AbortController().signal,
    )
    sent++
    return { status, headers: {}, content: null }
  } catch (error) {
    throw new Raised({ type: 'urn:refused', status: 403, detail: String(error) })
  }
}

const definitions = [
  ...bombs.flatMap((bomb) => places.map((place) => place(bomb))),
  ...calls,
  ...loops,
]

test('every hostile definition ends with a reason', { timeout: 900_000 }, async (t) => {
  let slowest = 0
  for (const tasks of definitions) {
    const began = performance.now()
    const { ended } = await runSmall(
      definitionOf('hostile', tasks),
      {},
      {
        evaluator,
        callHttp: callOut,
        limits: { steps: 300, items: 500, runMs: 1_500, depth: 0 },
        child: async () => assert.fail('it should be too deep'),
        functions: {},
      },
    ).catch((error: unknown) => ({
      ended: { ended: 'failed' as const, error: { detail: String(error) } },
    }))
    slowest = Math.max(slowest, performance.now() - began)
    assert.equal(ended.ended, 'failed', tasks.slice(0, 200))
    const { error } = ended as { error: { detail?: string } }
    assert.ok((error.detail ?? '').length > 5, `${tasks.slice(0, 200)}: ${JSON.stringify(error)}`)
  }
  assert.equal(sent, 0, 'nothing was ever sent')
  assert.ok(definitions.length >= 200, String(definitions.length))
  t.diagnostic(
    `${definitions.length} definitions, the slowest ended after ${(slowest / 1000).toFixed(1)} s`,
  )
})

test('the list is the only way: an empty one allows nothing', () => {
  assert.throws(() => findTarget([], 'https://shore.example/'))
})
