// Goal: every goal is reached, refused and repeated as it declares, on a real host and on a simulated one alike.
// Method: goals made from their shapes, each from every power state, at a real libvirtd with its in-memory driver and at a simulated host.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { changePower, createSnapshot, readVm } from '@skerry/engine'
import type { Fault } from '@skerry/fault'
import { goals, ruleOf, type Goal, type HostApi } from '@skerry/host-api'
import { reasonWithoutRoot } from '@skerry/lab'
import { simulatedHost } from '@skerry/lab/simulated-host'
import { powerStates, type PowerState, type TaskId, type Vm, type VmId } from '@skerry/vm'

import { startCloudHost, type CloudHost } from './cloud-host.ts'
import { idOf, orderOf, ordersTo } from './cloud-orders.ts'

const skip = reasonWithoutRoot('host') ?? false
let started: CloudHost | undefined
before(async () => {
  if (skip === false) started = await startCloudHost()
})
after(() => started?.[Symbol.asyncDispose]())
const cloud = (): CloudHost => {
  assert(started, 'the host has started')
  return started
}
const { made } = ordersTo(cloud)
const owner = 'cloud'

interface Shape {
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly type?: string
  readonly examples?: readonly unknown[]
}

/** The values of a property: all of them if they can be counted, otherwise its examples. */
function valuesOf(name: string, { const: only, enum: some, type, examples }: Shape) {
  if (only !== undefined) return [only]
  if (type === 'boolean') return [true, false]
  return some ?? examples ?? assert.fail(`${name} needs examples (packages/host-api/src/goals.ts)`)
}

/** Every goal for a VM that exists, with every combination of values. */
const all: readonly Goal[] = Object.entries(goals).flatMap(([goalName, { shape, rule }]) =>
  rule
    ? Object.entries(shape.properties).reduce<object[]>(
        (combinations, [name, property]) =>
          combinations.flatMap((goal) =>
            valuesOf(`${goalName}.${name}`, property as Shape).map((value) => ({
              ...goal,
              [name]: value,
            })),
          ),
        [{}],
      )
    : [],
) as readonly Goal[]

/** Brings a VM that is off to this power state, and gives it the snapshot that the goal needs. */
async function bring(vm: string, to: PowerState, goal: Goal): Promise<Vm> {
  const { host } = cloud().emulated
  if (goal.goal === 'reverted') {
    await createSnapshot(host, vm, { name: goal.name, memory: false }, owner)
  }
  if (to !== 'off') await changePower(host, vm, 'on', { owner })
  if (to === 'paused') await changePower(host, vm, 'pause', { owner })
  if (to === 'suspended') await changePower(host, vm, 'suspend', { owner })
  return readVm(host, vm, owner)
}

type Answer = Partial<Vm & Pick<Fault, 'kind' | 'message'>>
let number = 10

/** What only a guest can show: the driver cannot do it. */
const LACKING = /not supported by the connection driver|in function test/

/**
 * A step, and the same step again as after a crash that lost its outcome: it requires one of the start states that the goal declares,
 * and the VM is no longer in it.
 */
async function twice(link: HostApi, vm: VmId, goal: Goal) {
  const answers: unknown[] = []
  for (const key of ['first', 'again']) {
    const from = ruleOf(goal)?.from ?? []
    const order = orderOf(vm, key, number, { task: `task-${number}` as TaskId, from })
    answers.push(
      await link.step(order, goal).then(
        // Boot ids and addresses differ between hosts.
        ({ vm: now }) => now && { ...now, boot: null, card: null },
        ({ kind, message }: Fault) => ({ kind, ...(LACKING.test(message) && { message }) }),
      ),
    )
  }
  return answers
}

for (const [at, goal] of all.entries()) {
  for (const [nth, power] of powerStates.entries()) {
    test(`${JSON.stringify(goal)} from ${power}`, { skip }, async (t) => {
      const id = idOf(100 + at * powerStates.length + nth) as VmId
      const link = await made(id)
      const simulated = simulatedHost({ vms: [await bring(id, power, goal)] })
      if (goal.goal === 'reverted') simulated.keepSnapshot(id, goal.name, false)
      number += 1
      const [first, again] = (await twice(link, id, goal)) as [Answer, Answer]
      if (first.message !== undefined) return t.diagnostic(first.message)
      assert.deepEqual(await twice(simulated, id, goal), [first, again], 'simulated and real')
      if (ruleOf(goal)?.from.includes(power)) {
        assert.equal(first.kind, undefined, 'it is reached from the states that it declares')
      }
      if (first.kind === undefined && goals[goal.goal].repeatable) {
        assert.deepEqual(again, first, 'a repeated step finds its work done')
      }
    })
  }
}
