// Goal: the page about our functions is what they are, and a call is refused before the cloud is asked where it makes no sense.
// Method: the page made anew; calls at a cloud that nobody may ask. What they do: tests/cloud/workflow-functions.test.ts.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'

import { Cloud } from '@skerry/cloud-client'
import { Fault, faultKinds } from '@skerry/fault'

import { callFunction, FunctionProblem, problemOf } from '../src/worker/call-function.ts'
import type { FunctionWorld } from '../src/worker/function.ts'
import { functionsReference } from '../src/worker/functions-reference.ts'
import { functions } from '../src/worker/functions.ts'

const PAGE = join(import.meta.dirname, '../../../docs/reference/workflow-functions.md')

test('the page of functions is what the table says', async () => {
  const page = functionsReference()
  assert.equal(await readFile(PAGE, 'utf8'), page, 'npm run reference makes it anew')
  for (const [name, { doc }] of Object.entries(functions)) {
    assert.ok(page.includes(`## ${name}\n\n${doc}\n`), name)
  }
})

/** A cloud that answers in one way only. */
const worldOf = (ask: () => never): FunctionWorld => ({
  cloud: () => new Cloud(async () => ask()),
  now: () => 0,
  pause: async () => undefined,
})
const nobody = worldOf(() => assert.fail('the cloud was asked'))
const VM = 'vm-01980000-0000-7000-8000-00000000abcd'

const call = (world: FunctionWorld, name: string, input: unknown) =>
  callFunction(world, { name, input: input as never, grant: 'g', key: 'k' })

test('what is no function, or is asked with the wrong words, is refused as not valid', async () => {
  const wrong: readonly (readonly [string, unknown])[] = [
    ['skerry.vm.explode', {}],
    ['toString', {}],
    ['skerry.vm.powerOn', {}],
    ['skerry.vm.powerOn', null],
    ['skerry.vm.powerOn', { vm: 'vapp-01980000-0000-7000-8000-00000000abcd' }],
    ['skerry.vm.powerOn', { vm: `${VM}/../../session` }],
    ['skerry.vm.powerOn', { vm: VM, force: true }],
    ['skerry.vm.reconfigure', { vm: VM, cpus: 0 }],
    ['skerry.vm.waitForStatus', { vm: VM, status: 'HAPPY' }],
    ['skerry.query', { type: 'vm', limit: 1_000_000 }],
  ]
  for (const [name, input] of wrong) {
    await assert.rejects(call(nobody, name, input), (error: unknown) => {
      assert.ok(
        error instanceof FunctionProblem,
        `${name} ${JSON.stringify(input)}: ${String(error)}`,
      )
      assert.match(error.problem.type, /\/errors\/validation$/)
      assert.equal(error.problem.status, 400)
      return true
    })
  }
})

test('a cloud that is away, or asked too often, is no error of the definition: the call is made again', async () => {
  for (const kind of ['unavailable', 'too-many'] as const) {
    const world = worldOf(() => {
      throw new Fault(kind, 'later')
    })
    await assert.rejects(call(world, 'skerry.vm.get', { vm: VM }), { name: 'Fault', kind })
  }
})

test('every fault has its words in the DSL', () => {
  for (const kind of faultKinds) {
    const { type, status, title, detail } = problemOf(new Fault(kind, 'why', { hint: 'do so' }))
    assert.match(type, /^https:\/\/serverlessworkflow\.io\/spec\/1\.0\.0\/errors\/[a-z]+$/)
    assert.ok(status >= 400 && status < 600 && title)
    assert.equal(detail, 'why; do so')
  }
})
