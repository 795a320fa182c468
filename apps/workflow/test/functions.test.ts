// Goal: the function reference is up to date, and invalid calls are rejected before the cloud is called. Method: the page generated
// again; calls with a cloud that must not be called. Their effects: tests/cloud/workflow-functions.test.ts.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'

import { Cloud } from '@skerry/cloud-client'
import { Fault, faultKinds } from '@skerry/fault'

import { callFunction, FunctionProblem, problemOf } from '../src/functions/call-function.ts'
import type { FunctionContext } from '../src/functions/function.ts'
import { functionsReference } from '../src/functions/functions-reference.ts'
import { functions } from '../src/functions/functions.ts'

const PAGE = join(import.meta.dirname, '../../../docs/reference/workflow-functions.md')

test('the function reference is up to date', async () => {
  const page = functionsReference()
  assert.equal(await readFile(PAGE, 'utf8'), page, 'run npm run reference')
  for (const [name, { doc }] of Object.entries(functions)) {
    assert.ok(page.includes(`## ${name}\n\n${doc}\n`), name)
  }
})

/** A cloud that responds in one way only. */
const contextOf = (ask: () => never): FunctionContext => ({
  cloud: () => new Cloud(async () => ask()),
  now: () => 0,
  pause: async () => undefined,
})
const nobody = contextOf(() => assert.fail('the cloud was called'))
const VM = 'vm-01980000-0000-7000-8000-00000000abcd'

const call = (runtime: FunctionContext, name: string, input: unknown) =>
  callFunction(runtime, { name, input: input as never, grant: 'g', key: 'k' })

test('an unknown function or an invalid input is a validation error', async () => {
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

test('every function rejects a property that it does not know, and a list, before the cloud is called', async () => {
  for (const [name, { input: schema }] of Object.entries(functions)) {
    // Without its required properties an input is invalid in any case.
    assert.equal((schema as { additionalProperties?: unknown }).additionalProperties, false, name)
    for (const input of [{ thereIsNoSuchProperty: 1 }, []]) {
      await assert.rejects(call(nobody, name, input), (error: unknown) => {
        assert.ok(error instanceof FunctionProblem, `${name}: ${String(error)}`)
        assert.match(error.problem.type, /\/errors\/validation$/, name)
        return true
      })
    }
  }
})

test('an unavailable or rate-limiting cloud is not an error of the definition: the call is retried', async () => {
  for (const kind of ['unavailable', 'too-many'] as const) {
    const runtime = contextOf(() => {
      throw new Fault(kind, 'later')
    })
    await assert.rejects(call(runtime, 'skerry.vm.get', { vm: VM }), { name: 'Fault', kind })
  }
})

test('every fault maps to a DSL error', () => {
  for (const kind of faultKinds) {
    const { type, status, title, detail } = problemOf(new Fault(kind, 'why', { hint: 'do so' }))
    assert.match(type, /^https:\/\/serverlessworkflow\.io\/spec\/1\.0\.0\/errors\/[a-z]+$/)
    assert.ok(status >= 400 && status < 600 && title)
    assert.equal(detail, 'why; do so')
  }
})
