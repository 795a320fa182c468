// Goal: the library workflows do what their summaries say. Method: the interpreter with the real jq, over a simulated vApp: VMs as
// the functions return them.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

import { startEvaluator } from '@skerry/jq'
import { parseDefinition, Raised, type Json } from '@skerry/serverless-workflow'

import { runSmall } from '../../../packages/serverless-workflow/test/small-runtime.ts'
import { functions as ours } from '../src/functions/functions.ts'

const shipped = (name: string) => {
  const text = readFileSync(`${import.meta.dirname}/../library/${name}.yaml`, 'utf8')
  const parsed = parseDefinition(text, new Set(Object.keys(ours)))
  assert.ok('definition' in parsed)
  return parsed.definition.document
}

type Call = (input: Json) => Promise<Json>
const vmOf = (input: Json): string => (input as { readonly vm: string }).vm

/** A vApp with these VMs; records each function call. */
function simulatedVapp(vms: readonly Json[], failing: readonly string[] = []) {
  const done: string[] = []
  const act =
    (word: string, answer: (id: string) => Json): Call =>
    async (input) => {
      const id = vmOf(input)
      done.push(`${word} ${id}`)
      if (failing.includes(`${word} ${id}`))
        throw new Raised({
          type: 'https://example.test/no',
          status: 409,
          title: 'No',
          detail: `${word} was refused`,
        })
      return answer(id)
    }
  const seen = (id: string): Json => ({ id, name: id.toUpperCase(), address: '10.0.0.1' })
  const functions: Record<string, Call> = {
    'skerry.vapp.get': async () => ({ id: 'vapp-1', name: 'web', vms }),
    'skerry.vm.createSnapshot': act('snapshot', seen),
    'skerry.vm.shutdown': act('shutdown', seen),
    'skerry.vm.powerOff': act('powerOff', seen),
    'skerry.vm.powerOn': act('powerOn', seen),
    'skerry.vm.waitHealthy': act('healthy', seen),
  }
  return { done, functions }
}

const ago = (hours: number): string => new Date(Date.now() - hours * 3_600_000).toISOString()
const vm = (id: string, status = 'POWERED_ON', snapshot: Json = null): Json => ({
  id,
  name: id.toUpperCase(),
  status,
  snapshot,
})
const night = (hours: number, name = 'nightly'): Json => ({
  name,
  created: ago(hours),
  poweredOn: false,
})

const some = [
  vm('new'),
  vm('old', 'POWERED_OFF', night(24)),
  vm('young', 'POWERED_ON', night(2)),
  vm('byhand', 'POWERED_ON', night(400, 'before the upgrade')),
  vm('asleep', 'SUSPENDED'),
]

test('the nightly snapshot takes due snapshots and skips other VMs', async () => {
  await using evaluator = startEvaluator({ threads: 1 })
  const { done, functions } = simulatedVapp(some)
  const { ended } = await runSmall(
    shipped('nightly-snapshot'),
    { vapp: 'vapp-1' },
    { evaluator, functions },
  )
  assert.deepEqual(ended, {
    ended: 'completed',
    output: { taken: ['NEW', 'OLD'], kept: ['YOUNG', 'BYHAND', 'ASLEEP'], failed: [] },
  })
  assert.deepEqual(done, ['snapshot new', 'snapshot old'])
})

test('the inputs decide which snapshots are kept, and for how long', async () => {
  await using evaluator = startEvaluator({ threads: 1 })
  const { functions } = simulatedVapp(some)
  const input = { vapp: 'vapp-1', keepHours: 160, replaceOthers: true }
  const { ended } = await runSmall(shipped('nightly-snapshot'), input, { evaluator, functions })
  assert.deepEqual(ended, {
    ended: 'completed',
    output: { taken: ['NEW', 'BYHAND'], kept: ['OLD', 'YOUNG', 'ASLEEP'], failed: [] },
  })
})

test('a failed snapshot is reported at the end, after all other VMs were tried', async () => {
  await using evaluator = startEvaluator({ threads: 1 })
  const { done, functions } = simulatedVapp([vm('a'), vm('b'), vm('c')], ['snapshot b'])
  const { ended } = await runSmall(
    shipped('nightly-snapshot'),
    { vapp: 'vapp-1' },
    { evaluator, functions },
  )
  assert.deepEqual(done, ['snapshot a', 'snapshot b', 'snapshot c'])
  assert.ok(ended.ended === 'failed')
  assert.equal(ended.error.title, 'Not every VM has its snapshot')
  assert.equal(ended.error.detail, 'B: snapshot was refused')
})

test('running VMs are restarted one after the other, each healthy before the next', async () => {
  await using evaluator = startEvaluator({ threads: 1 })
  const { done, functions } = simulatedVapp([vm('a'), vm('off', 'POWERED_OFF'), vm('b')])
  const { ended } = await runSmall(
    shipped('rolling-restart'),
    { vapp: 'vapp-1' },
    { evaluator, functions },
  )
  assert.deepEqual(ended, { ended: 'completed', output: { restarted: ['A', 'B'] } })
  assert.deepEqual(done, [
    'shutdown a',
    'powerOn a',
    'healthy a',
    'shutdown b',
    'powerOn b',
    'healthy b',
  ])
})

test('the first VM that does not become healthy ends the run, and the others are not restarted', async () => {
  await using evaluator = startEvaluator({ threads: 1 })
  const { done, functions } = simulatedVapp([vm('a'), vm('b')], ['healthy a'])
  const { ended } = await runSmall(
    shipped('rolling-restart'),
    { vapp: 'vapp-1' },
    { evaluator, functions },
  )
  assert.equal(ended.ended, 'failed')
  assert.deepEqual(done, ['shutdown a', 'powerOn a', 'healthy a'])
})

test('a guest that does not shut down is powered off only with force', async () => {
  await using evaluator = startEvaluator({ threads: 1 })
  const gentle = simulatedVapp([vm('a')], ['shutdown a'])
  const left = await runSmall(
    shipped('rolling-restart'),
    { vapp: 'vapp-1' },
    { evaluator, functions: gentle.functions },
  )
  assert.equal(left.ended.ended, 'failed')
  assert.deepEqual(gentle.done, ['shutdown a'])
  const firm = simulatedVapp([vm('a')], ['shutdown a'])
  const input = { vapp: 'vapp-1', force: true }
  const forced = await runSmall(shipped('rolling-restart'), input, {
    evaluator,
    functions: firm.functions,
  })
  assert.deepEqual(forced.ended, { ended: 'completed', output: { restarted: ['A'] } })
  assert.deepEqual(firm.done, ['shutdown a', 'powerOff a', 'powerOn a', 'healthy a'])
})

test('with healthPath each VM must respond there', async () => {
  await using evaluator = startEvaluator({ threads: 1 })
  const { functions } = simulatedVapp([vm('a')])
  const input = { vapp: 'vapp-1', healthPath: '/health', healthPort: 8080 }
  const { ended, https } = await runSmall(shipped('rolling-restart'), input, {
    evaluator,
    functions,
    callHttp: async () => ({ status: 200, headers: {}, raw: '', content: 'ok' }),
  })
  assert.deepEqual(ended, { ended: 'completed', output: { restarted: ['A'] } })
  assert.deepEqual(
    https.map(({ uri }) => uri),
    ['http://10.0.0.1:8080/health'],
  )
})
