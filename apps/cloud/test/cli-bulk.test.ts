// Goal: `skerry vm start --filter …` shows how many VMs it acts on, asks, and prints what failed. Method: as cli.test.ts; a loop ends
// the tasks as a worker does.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'

import { until } from '@skerry/lab'
import type { VmId } from '@skerry/vm'
import { sql } from 'kysely'

import type { Profile } from '../../cli/src/profiles/profiles.ts'
import { keptProfiles, skerry } from '../../cli/test/terminal.ts'
import { claimTask } from '../src/tasks/claim-task.ts'
import { endTask } from '../src/tasks/end-task.ts'
import { openTenantsApi, type TenantsApi } from './tenants-api.ts'

let api: TenantsApi
before(async () => {
  api = await openTenantsApi()
})
after(() => api[Symbol.asyncDispose]())
beforeEach(() => sql`update vm set deleted_at = clock_timestamp()`.execute(api.cloud.db))

const run = (
  words: readonly string[],
  more: {
    readonly terminal?: boolean
    readonly confirm?: (question: string) => Promise<boolean>
  } = {},
) => {
  const work: Profile = {
    url: `http://127.0.0.1:${api.port}`,
    user: 'alice@eng',
    token: api.eng.token,
  }
  const profiles = keptProfiles({ active: 'work', clouds: { work } })
  return skerry('http://127.0.0.1:9', words, { profiles, ...more })
}

/** Ends the tasks of these VMs, each as soon as it is queued. */
async function workOff(vms: readonly VmId[]): Promise<void> {
  const rules = { perHost: 100, perOrg: 100, within: () => 300 }
  for (const vm of vms) {
    await until('a task is queued', async () => {
      const claimed = await claimTask(api.cloud.db, vm, 'run-1', rules)
      if (!claimed) return false
      await endTask(api.cloud.db, { task: claimed.task.id, fence: claimed.fence })
      return true
    })
  }
}

const tasks = async () =>
  (await api.cloud.db.selectFrom('task').select('id').where('children', 'is not', null).execute())
    .length

test('it asks with the number of VMs; without a yes, nothing is changed', async () => {
  await api.cloud.addVms(3)
  const questions: string[] = []
  const confirm = async (question: string) => {
    questions.push(question)
    return false
  }
  const refused = await run(['vm', 'start', '--filter', 'name==vm-*'], { confirm })
  assert.equal(refused.code, 1)
  assert.deepEqual(questions, ['starting 3 VMs that match name==vm-*: continue?'])
  assert.match(refused.err, /not confirmed: 3 VMs match, and none was changed\nnext: .*--yes/)
  assert.equal((await run(['vm', 'start'])).code, 2, 'without a filter')
  const none = await run(['vm', 'start', '--filter', 'name==none', '--yes'])
  assert.match(none.err, /no VM matches name==none/)
  const other = await run(['vm', 'start', '--filter', 'name==vm-*', '--expect', '2', '--yes'])
  assert.equal(other.code, 1)
  assert.match(other.err, /matches 3 VMs, but expect is 2/)
  assert.equal(await tasks(), 0)
})

test('it shows progress, and how many VMs it changed', async () => {
  const { vms } = await api.cloud.addVms(3, 'POWERED_ON')
  const stop = ['vm', 'stop', '--filter', 'name==vm-*', '--force', '--yes']
  const [stopped] = await Promise.all([run(stop, { terminal: true }), workOff(vms)])
  assert.equal(stopped.code, 0, stopped.err)
  assert.equal(stopped.out, '3 VMs are turned off\n')
  assert.match(stopped.drawn, /turning off 3 VMs/)
})

test('a VM that cannot take the action is in the table; the exit code is 1', async () => {
  const { vms } = await api.cloud.addVms(2, 'POWERED_ON')
  await api.cloud.addVms(1, 'POWERED_OFF')
  const words = ['vm', 'suspend', '--filter', 'name==vm-*', '--yes']
  const [text] = await Promise.all([run(words, { terminal: true }), workOff(vms)])
  assert.equal(text.code, 1)
  assert.match(text.out, /^2 of 3 VMs are suspended; the others:\nNAME +RESULT +REASON\n/)
  assert.match(text.out, /^vm-0 +error +VM vm-0 is POWERED_OFF; suspend needs POWERED_ON/m)
  const [{ out }] = await Promise.all([run([...words, '--json']), workOff(vms)])
  const { total, failed, results } = JSON.parse(out) as {
    readonly total: number
    readonly failed: number
    readonly results: readonly { readonly name: string; readonly status: string }[]
  }
  assert.deepEqual([total, failed, results.length], [3, 1, 3], out)
})

test('--no-wait returns at once, with the task', async () => {
  await api.cloud.addVms(2)
  const begun = await run(['vm', 'start', '--filter', 'name==vm-*', '--yes', '--no-wait'])
  assert.match(begun.out, /^starting 2 VMs: task \S+ is running\n$/)
})
