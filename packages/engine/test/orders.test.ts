// Goal: a step is done once and in order, even if it is repeated, overtaken or interrupted by a crash.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { test } from 'node:test'

import { Fault } from '@skerry/fault'
import type { GoalNature, Order, Report, StepOutcome, TaskId, VmId } from '@skerry/vm'

import { Orders, type Work } from '../src/orders/orders.ts'
import { temporaryDirectory } from './temporary-directory.ts'

const vm = 'vm' as VmId
const begins: GoalNature = { repeatable: true, life: 'begins' }
const unrepeatable: GoalNature = { repeatable: false, life: 'begins' }
const orderOf = (step: string, number: number, more: Partial<Order> = {}): Order => {
  const task = more.task ?? ('t' as TaskId)
  return {
    vm,
    key: `${task}/${step}`,
    fencingToken: String(number),
    incarnation: '1',
    ...more,
    task,
  }
}
let seq = 0
const outcome = (more: Partial<StepOutcome> = {}): StepOutcome => ({
  report: { session: '1', seq: (seq += 1) },
  ...more,
})
const instant = (acted: string[] = [], name = 'acted'): Work => ({
  act: async () => {
    acted.push(name)
    return outcome()
  },
})

/** A step that ends on demand, or when it is canceled. */
function slow() {
  const begun = Promise.withResolvers<void>()
  const end = Promise.withResolvers<StepOutcome>()
  const work: Work = {
    act: ({ signal, progress }) => {
      signal.addEventListener('abort', () => end.reject(new Error('stopped')), { once: true })
      begun.resolve()
      progress(40)
      return end.promise
    },
  }
  return { work, begun: begun.promise, end: end.resolve }
}

test('a key is done once and answered again with the first result, also after a restart', async () => {
  await using directory = await temporaryDirectory()
  const acted: string[] = []
  const orders = await Orders.open(directory.path)
  const first = await orders.inOrder(orderOf('a', 5), begins, instant(acted))
  assert.deepEqual(await orders.inOrder(orderOf('a', 5), begins, instant(acted)), first)
  assert.deepEqual(await orders.inOrder(orderOf('a', 6), begins, instant(acted)), first)
  const again = await Orders.open(directory.path)
  assert.deepEqual(await again.inOrder(orderOf('a', 7), begins, instant(acted)), first)
  assert.deepEqual(acted, ['acted'])
})

test('a step requested many times concurrently is done once', async () => {
  await using directory = await temporaryDirectory()
  const orders = await Orders.open(directory.path)
  const { work, begun, end } = slow()
  const heard: number[] = []
  const all = Array.from({ length: 20 }, () =>
    orders.inOrder(orderOf('a', 5), begins, work, (percent) => heard.push(percent)),
  )
  await begun
  // A later claim of the same task takes over the running step.
  all.push(orders.inOrder(orderOf('a', 6), begins, work))
  await orders.ledgers.settled(vm)
  end(outcome())
  const reports = await Promise.all(all)
  assert.equal(new Set(reports).size, 1)
  assert.equal(orders.ledgers.get(vm)?.highest, '6')
  assert(heard.length > 0 && heard.every((percent) => percent === 40))
})

test('another step of the same claim waits, one of a later claim aborts it', async () => {
  await using directory = await temporaryDirectory()
  const orders = await Orders.open(directory.path)
  const acted: string[] = []
  const { work, begun, end } = slow()
  const a = orders.inOrder(orderOf('a', 5), begins, work)
  await begun
  const b = orders.inOrder(orderOf('b', 5), begins, instant(acted, 'b'))
  await orders.ledgers.settled(vm)
  assert.deepEqual(acted, [])
  end(outcome())
  await Promise.all([a, b])
  assert.deepEqual(acted, ['b'])

  const later = slow()
  const c = assert.rejects(orders.inOrder(orderOf('c', 5), begins, later.work), {
    kind: 'stale',
    detail: '6',
  })
  await later.begun
  await orders.inOrder(orderOf('undo', 6), begins, instant(acted, 'undo'))
  await c
  assert.deepEqual(acted, ['b', 'undo'])
  await assert.rejects(orders.inOrder(orderOf('c', 5), begins, instant(acted, 'c')), {
    kind: 'stale',
    detail: '6',
  })
  assert.deepEqual(acted, ['b', 'undo'])
})

test('a waiting order is judged again when its turn comes', async () => {
  await using directory = await temporaryDirectory()
  const orders = await Orders.open(directory.path)
  const acted: string[] = []
  const { work, begun, end } = slow()
  const a = orders.inOrder(orderOf('a', 5), begins, work)
  await begun
  const waiting = assert.rejects(orders.inOrder(orderOf('b', 5), begins, instant(acted, 'b')), {
    kind: 'stale',
  })
  const other = { task: 'u' as TaskId }
  const overtaking = orders.inOrder(orderOf('x', 6, other), begins, instant(acted, 'x'))
  end(outcome())
  await Promise.allSettled([a])
  await Promise.all([waiting, overtaking])
  assert.deepEqual(acted, ['x'])
})

test('a canceled step reports it and may be retried', async () => {
  await using directory = await temporaryDirectory()
  const orders = await Orders.open(directory.path)
  const { work, begun } = slow()
  const stopped = assert.rejects(orders.inOrder(orderOf('a', 5), begins, work), {
    kind: 'canceled',
  })
  await begun
  orders.stop(vm, 't/other')
  orders.stop(vm, 't/a')
  await stopped
  const acted: string[] = []
  await orders.inOrder(orderOf('a', 5), begins, instant(acted))
  assert.deepEqual(acted, ['acted'])
})

test('a failed step has no result and is retried, unless it may have taken effect', async () => {
  await using directory = await temporaryDirectory()
  const orders = await Orders.open(directory.path)
  const failing = (kind: 'unavailable' | 'wrong-state'): Work => ({
    act: () => Promise.reject(new Fault(kind, 'no')),
  })
  await assert.rejects(orders.inOrder(orderOf('a', 5), begins, failing('unavailable')), {
    kind: 'unavailable',
  })
  await orders.inOrder(orderOf('a', 5), begins, instant())
  await assert.rejects(orders.inOrder(orderOf('r', 5), unrepeatable, failing('wrong-state')), {
    kind: 'wrong-state',
  })
  await assert.rejects(orders.inOrder(orderOf('r', 5), unrepeatable, failing('unavailable')), {
    kind: 'interrupted',
  })
  await assert.rejects(orders.inOrder(orderOf('r', 6), unrepeatable, instant()), {
    kind: 'interrupted',
  })
  const unready: Work = { ...instant(), ready: () => Promise.reject(new Fault('wrong-state', '')) }
  await assert.rejects(orders.inOrder(orderOf('s', 6), unrepeatable, unready), {
    kind: 'wrong-state',
  })
  await orders.inOrder(orderOf('s', 6), unrepeatable, instant())
})

test('a step that cannot be recorded is not done, and an unrecorded outcome is not answered', async () => {
  await using directory = await temporaryDirectory()
  const orders = await Orders.open(directory.path)
  const acted: string[] = []
  await orders.inOrder(orderOf('a', 5), begins, instant(acted, 'a'))
  // A directory in place of the temporary file: root can write anywhere else.
  const inTheWay = `${directory.path}/.vm.json.${process.pid}.tmp`
  await mkdir(inTheWay)
  await assert.rejects(orders.inOrder(orderOf('b', 6), begins, instant(acted, 'b')))
  assert.deepEqual(acted, ['a'])
  await rm(inTheWay, { recursive: true, force: true })
  await orders.inOrder(orderOf('b', 6), begins, instant(acted, 'b'))
  const breaking: Work = {
    act: async () => {
      acted.push('c')
      await mkdir(inTheWay)
      return outcome()
    },
  }
  await assert.rejects(orders.inOrder(orderOf('c', 6), begins, breaking))
  await assert.rejects(orders.inOrder(orderOf('c', 6), begins, instant(acted, 'again')))
  await rm(inTheWay, { recursive: true, force: true })
  await orders.inOrder(orderOf('c', 6), begins, instant(acted, 'again'))
  assert.deepEqual(acted, ['a', 'b', 'c'])
})

test('the highest fencing token is reported only once it is on disk, and outlives tombstones', async () => {
  await using directory = await temporaryDirectory()
  const orders = await Orders.open(directory.path)
  await orders.inOrder(orderOf('a', 70), begins, {
    act: async () => outcome({ gone: '2026-01-01T00:00:00.000Z' }),
  })
  assert.equal(orders.ledgers.highest, '70')
  orders.ledgers.hear('80')
  assert.equal(orders.ledgers.highest, '70')
  assert.equal((await Orders.open(directory.path)).ledgers.highest, '70')
  await orders.keep(new Date('2026-03-31T00:00:00.000Z'))
  assert.equal(orders.ledgers.highest, '80')
  assert.notEqual(orders.ledgers.get(vm), undefined)
  await orders.keep(new Date('2026-04-02T00:00:00.000Z'))
  assert.equal(orders.ledgers.get(vm), undefined)
  assert.deepEqual(await readdir(directory.path), ['highest.json'])
  assert.equal((await Orders.open(directory.path)).ledgers.highest, '80')
})

/** Runs a step in its own process and kills it in the middle. */
async function killedIn(
  directory: { at(name: string): string },
  stopAt: 'ready' | 'act',
  order: Order,
  repeatable = true,
): Promise<void> {
  const child = spawn(
    process.execPath,
    [
      `${import.meta.dirname}/orders-process.ts`,
      directory.at('orders'),
      directory.at('acts'),
      stopAt,
      repeatable ? 'yes' : 'no',
      JSON.stringify(order),
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  await once(child.stdout, 'data')
  child.kill('SIGKILL')
  await once(child, 'close')
}

const actsIn = (directory: { at(name: string): string }) =>
  readFile(directory.at('acts'), 'utf8').catch(() => '')

test('killed before it acted: the fencing token holds, the step is done', async () => {
  await using directory = await temporaryDirectory()
  await killedIn(directory, 'ready', orderOf('a', 9))
  assert.equal(await actsIn(directory), '')
  const orders = await Orders.open(directory.at('orders'))
  const late = orderOf('x', 8, { task: 'older' as TaskId })
  await assert.rejects(orders.inOrder(late, begins, instant()), { kind: 'stale', detail: '9' })
  const acted: string[] = []
  await orders.inOrder(orderOf('a', 9), begins, instant(acted))
  assert.deepEqual(acted, ['acted'])
})

test('killed between acting and recording: a goal is reached again', async () => {
  await using directory = await temporaryDirectory()
  await killedIn(directory, 'act', orderOf('a', 9))
  assert.equal(await actsIn(directory), 't/a\n')
  const orders = await Orders.open(directory.at('orders'))
  const acted: string[] = []
  const report: Report = await orders.inOrder(orderOf('a', 10), begins, instant(acted))
  assert.deepEqual(await orders.inOrder(orderOf('a', 10), begins, instant(acted)), report)
  assert.deepEqual(acted, ['acted'])
})

test('killed between acting and recording: what cannot be repeated is not', async () => {
  await using directory = await temporaryDirectory()
  await killedIn(directory, 'act', orderOf('r', 9), false)
  assert.equal(await actsIn(directory), 't/r\n')
  const orders = await Orders.open(directory.at('orders'))
  const acted: string[] = []
  for (const number of [9, 10]) {
    await assert.rejects(orders.inOrder(orderOf('r', number), unrepeatable, instant(acted)), {
      kind: 'interrupted',
      detail: 't/r',
    })
  }
  // Another task is not affected.
  await orders.inOrder(orderOf('r', 11, { task: 'u' as TaskId }), unrepeatable, instant(acted))
  assert.deepEqual(acted, ['acted'])
})
