// Goal: guests whose agents stall block neither the agents of other guests nor libvirtd.
// Method: calls that end on demand; short timeouts.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { AGENT_CALLS_AT_ONCE, AgentLines } from '../src/host/agent-lines.ts'

const PATIENCE_MS = 200

function open(slowMs = 60_000, patienceMs = PATIENCE_MS) {
  const lines = new AgentLines({ patienceMs, slowMs })
  const running = new Map<string, PromiseWithResolvers<string>>()
  let most = 0
  const stall = (vm: string) =>
    lines.run(vm, () => {
      assert.ok(!running.has(vm), 'one call per VM')
      const work = Promise.withResolvers<string>()
      running.set(vm, work)
      most = Math.max(most, running.size)
      return work.promise.finally(() => running.delete(vm))
    })
  return {
    lines,
    running,
    stall,
    most: () => most,
    answer: (vm: string) => lines.run(vm, async () => vm),
  }
}

async function settled(is: () => boolean): Promise<void> {
  while (!is()) await new Promise(setImmediate)
}

const fate = (call: Promise<unknown>) =>
  call.then(
    () => 'answered',
    (error: unknown) => (error as Error).message,
  )

test('at most three agents are called at once, and each caller gets an answer within its timeout', async () => {
  const patienceMs = 2_000
  const { stall, running, most } = open(60_000, patienceMs)
  const began = performance.now()
  const fates = await Promise.all(Array.from({ length: 20 }, (_, n) => fate(stall(`vm-${n}`))))
  assert.ok(performance.now() - began < 10 * patienceMs)
  assert.ok(most() <= AGENT_CALLS_AT_ONCE, String(most()))
  const silent = fates.filter((each) => each === 'the guest agent does not answer').length
  assert.equal(silent, running.size)
  assert.equal(fates.filter((each) => /are busy/.test(each)).length, 20 - silent)
})

test('a line stays occupied until libvirt is done, even if the caller gave up', async () => {
  const { stall, running } = open()
  await fate(stall('one'))
  assert.equal(running.size, 1)
  assert.match(await fate(stall('one')), /are busy/)
  running.get('one')?.resolve('late')
  await settled(() => running.size < 1)
  const again = stall('one')
  await settled(() => running.size > 0)
  running.get('one')?.resolve('now')
  assert.equal(await again, 'now')
})

test('two calls to one guest are serialised', async () => {
  const { stall, running } = open(60_000, 60_000)
  const both = [stall('one'), stall('one')]
  for (const call of both) {
    await settled(() => running.size > 0)
    running.get('one')?.resolve('done')
    assert.equal(await call, 'done')
  }
})

test('an agent that answers always has a line left beside those that never did', async () => {
  const { stall, answer } = open()
  for (let n = 0; n < 3; n++) assert.equal(await answer('healthy'), 'healthy')
  const stalled = Array.from({ length: 20 }, (_, n) => fate(stall(`vm-${n}`)))
  for (let n = 0; n < 50; n++) assert.equal(await answer('healthy'), 'healthy')
  await Promise.all(stalled)
})

test('agents that stalled share one line for a while, even if they answer in between', async () => {
  const { stall, answer, running } = open()
  await Promise.all(['a', 'b'].map((vm) => fate(stall(vm))))
  for (const work of running.values()) work.resolve('late')
  await settled(() => running.size < 1)
  for (let n = 0; n < 4; n++) for (const vm of ['a', 'b']) assert.equal(await answer(vm), vm)
  const again = ['a', 'b'].map((vm) => fate(stall(vm)))
  await new Promise(setImmediate)
  assert.equal(running.size, 1)
  assert.equal(await answer('new'), 'new')
  await Promise.all(again)
})

test('after a while without a stall an agent is no longer slow', async () => {
  const { stall, running } = open(1)
  await Promise.all(['a', 'b'].map((vm) => fate(stall(vm))))
  for (const work of running.values()) work.resolve('late')
  await settled(() => running.size < 1)
  await new Promise((resolve) => setTimeout(resolve, 5))
  const again = ['a', 'b'].map((vm) => fate(stall(vm)))
  await settled(() => running.size === 2)
  await Promise.all(again)
})

test('an error of the agent is returned to the caller and does not make it slow', async () => {
  const { lines, answer } = open()
  const refused = lines.run('one', () => Promise.reject(new Error('refused')))
  await assert.rejects(refused, /refused/)
  assert.equal(await answer('one'), 'one')
})
