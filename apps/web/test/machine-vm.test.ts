import assert from 'node:assert/strict'
import { test } from 'node:test'

import { localVmPath } from '../src/api/machine.ts'
import { findAction } from '../src/model/actions.ts'
import { parseFilter } from '../src/model/filter.ts'
import {
  localCurl,
  machineActions,
  machineVmOf,
  matchesFilter,
  sortedVms,
  taskOfOperation,
} from '../src/model/machine/machine-vm.ts'
import type { ListedVm } from '../src/model/vm.ts'

const full = {
  tag: '',
  cpus: 2,
  memoryMiB: 2048,
  diskMiB: 10_240,
  autostart: false,
  sharing: false,
}
const vms = [
  { ...full, id: 'web-10', name: 'web-10', state: 'powered on', address: '10.83.0.7' },
  { ...full, id: 'web-9', name: 'web-9', state: 'powered off', memoryMiB: 512 },
  { ...full, id: 'db', name: 'Database', state: 'suspended', memoryMiB: 8192 },
].map(machineVmOf)

test('the power rules decide which actions are available, and give the reason', () => {
  const reasons = (power: 'on' | 'off' | 'paused' | 'suspended') =>
    Object.fromEntries(
      machineActions('vm-1', power).map(({ name, unavailable }) => [name, unavailable]),
    )
  assert.equal(reasons('off')['start'], undefined)
  assert.equal(reasons('on')['start'], 'it is already on')
  assert.equal(reasons('off')['reset'], 'it is off; this needs it on or paused')
  assert.equal(reasons('suspended')['powerOff'], 'it is suspended; this needs it on or paused')
  assert.equal(reasons('paused')['unpause'], undefined)
  assert.equal(reasons('on')['changeHardware'], 'it is on; this needs it off')
  assert.equal(reasons('on')['delete'], 'it is on; this needs it off or suspended')
  assert.equal(reasons('suspended')['delete'], undefined)
})

test('an action is the request of the local API', () => {
  const actions = machineActions('my.vm', 'off')
  assert.deepEqual(findAction(actions, 'start'), {
    name: 'start',
    method: 'PATCH',
    href: '/api/vms/power/my.vm',
    body: 'on',
  })
  assert.equal(findAction(actions, 'reset')?.href, '/api/vms/my.vm/reset')
})

test('a request is a line that a shell reads as one command', () => {
  const origin = 'http://127.0.0.1:8080'
  const open = { origin, needsToken: false }
  assert.equal(
    localCurl(open, 'PATCH', '/api/vms/power/my.vm', 'on'),
    'curl -X PATCH -d on http://127.0.0.1:8080/api/vms/power/my.vm',
  )
  assert.equal(
    localCurl(open, 'GET', localVmPath('a&b')),
    "curl 'http://127.0.0.1:8080/api/vms?view=full&id=a%26b'",
  )
  assert.equal(
    localCurl({ origin, needsToken: true }, 'DELETE', '/api/vms/my.vm'),
    'curl -X DELETE -H "Authorization: Bearer $SKERRY_TOKEN" http://127.0.0.1:8080/api/vms/my.vm',
  )
})

test('a VM that cannot be read shows its problem, and can only be deleted', () => {
  const vm = machineVmOf({ id: 'x', name: 'x', tag: '', state: 'powered off', problem: 'no disk' })
  assert.equal(vm.problem, 'no disk')
  const available = vm.actions.filter(({ unavailable }) => unavailable === undefined)
  assert.deepEqual(
    available.map(({ name }) => name),
    ['delete'],
  )
})

test('VMs are filtered and sorted in the browser, as the query service would', () => {
  const named = (text: string) =>
    vms.filter((vm) => matchesFilter(vm, parseFilter(text).terms)).map(({ name }) => name)
  assert.deepEqual(named('web'), ['web-10', 'web-9'])
  assert.deepEqual(named('WEB-1*'), ['web-10'])
  assert.deepEqual(named('mem>1g'), ['web-10', 'Database'])
  assert.deepEqual(named('ip:10.83.*'), ['web-10'])
  assert.deepEqual(named('-name:web*'), ['Database'])
  assert.deepEqual(named('a.c'), [])
  const sorted = (sort: string) => sortedVms(vms, sort).map(({ name }) => name)
  assert.deepEqual(sorted('name'), ['Database', 'web-9', 'web-10'])
  assert.deepEqual(sorted('-memoryMB'), ['Database', 'web-10', 'web-9'])
})

test('an operation of vmd is a task that cannot be canceled', () => {
  const task = taskOfOperation({
    id: 'op-1',
    name: 'changePower',
    vm: 'web-9',
    state: 'failed',
    progress: 0,
    started: '2026-11-17T19:00:00.000Z',
    error: { message: 'no memory', hint: 'stop another VM' },
  })
  assert.deepEqual(
    [task.state, task.objectId, task.mustFinish, task.message],
    ['error', 'web-9', true, 'no memory; stop another VM'],
  )
})

test('a filter with many stars matches part after part, in little time', () => {
  const named = (name: string, text: string): boolean =>
    matchesFilter({ name } as ListedVm, [{ column: 'name', operator: '==', value: text }])
  const cases: readonly (readonly [name: string, pattern: string, matches: boolean])[] = [
    ['web-1', 'web*', true],
    ['Web-1', '*WEB*', true],
    ['web-1', '*-1', true],
    ['web-1', 'w*b*1', true],
    ['web-1', 'web', false],
    ['aba', 'ab*ba', false],
    ['web-1', '*x*', false],
    ['a'.repeat(5000), `${'a*'.repeat(2000)}x`, false],
  ]
  for (const [name, pattern, matches] of cases) {
    assert.equal(named(name, pattern), matches, pattern.slice(0, 20))
  }
})
