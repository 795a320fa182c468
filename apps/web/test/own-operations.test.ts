import assert from 'node:assert/strict'
import { afterEach, beforeEach, mock, test } from 'node:test'

import { provideClockAndIds } from '../src/api/clock-and-ids.ts'
import type { LocalOperation } from '../src/api/machine.ts'
import { createLocalVm } from '../src/data/machine/create-vm.ts'
import { noteOperation, readOpenOperations } from '../src/data/machine/own-operations.ts'
import { notifications } from '../src/data/notifications.ts'

provideClockAndIds({ now: () => 0, uuid: () => 'key' })

const operation = (id: string, state: LocalOperation['state']): LocalOperation => ({
  id,
  name: id === 'op-create' ? 'createVm' : 'changePower',
  vm: 'web',
  state,
  progress: 0,
  started: '2026-11-17T19:00:00.000Z',
  ...(state === 'failed' && { error: { message: 'no space', hint: 'delete a VM' } }),
})
const wanted = { id: 'web', template: 'default', cpus: 1, memoryMiB: 1024 }

interface Said {
  readonly title: string
  readonly description?: string
}
let said: Said[] = []
let sent: string[] = []
/** What vmd answers for a method and a path. */
let answers: Record<string, { readonly status?: number; readonly body: object }> = {}

beforeEach(() => {
  sent = []
  said = []
  mock.method(notifications, 'add', (notification: Said) => said.push(notification))
  answers = {
    'POST /api/vms': { status: 202, body: operation('op-create', 'running') },
    'GET /api/operations/op-create': { body: operation('op-create', 'running') },
    'PATCH /api/vms/power/web': { status: 202, body: operation('op-power', 'running') },
  }
  mock.method(globalThis, 'fetch', async (path: string, { method }: RequestInit) => {
    const request = `${method} ${path}`
    sent.push(request)
    const { status = 200, body } = answers[request] ?? { status: 404, body: {} }
    return Response.json(body, { status })
  })
})
afterEach(() => mock.restoreAll())

const isSent = (request: string): boolean => sent.includes(request)
const titles = (): string[] => said.map(({ title }) => title)

test('a VM is started when the event says that it was created, and a failure of the start is not one of the creation', async () => {
  answers['PATCH /api/vms/power/web'] = { status: 409, body: { message: 'no memory' } }
  const created = createLocalVm(wanted, true)
  while (!isSent('GET /api/operations/op-create')) await new Promise(setImmediate)
  assert.equal(isSent('PATCH /api/vms/power/web'), false)
  noteOperation(operation('op-create', 'succeeded'))
  assert.equal(await created, true)
  assert.equal(isSent('PATCH /api/vms/power/web'), true)
  assert.deepEqual(titles(), ['Creating web', 'web was created, but not started'])
})

test('a creation that fails is reported once, with what to do next', async () => {
  const created = createLocalVm(wanted, true)
  while (!isSent('GET /api/operations/op-create')) await new Promise(setImmediate)
  noteOperation(operation('op-create', 'failed'))
  noteOperation(operation('op-create', 'failed'))
  assert.equal(await created, false)
  assert.equal(isSent('PATCH /api/vms/power/web'), false)
  assert.deepEqual(titles(), ['Creating web', 'Creating web failed'])
  assert.equal(said[1]?.description, 'no space; delete a VM')
})

test('an end whose event was missed is found when the stream is back', async () => {
  const created = createLocalVm(wanted, false)
  while (!isSent('GET /api/operations/op-create')) await new Promise(setImmediate)
  answers['GET /api/operations/op-create'] = { body: operation('op-create', 'succeeded') }
  await readOpenOperations()
  assert.equal(await created, true)
  assert.equal(isSent('PATCH /api/vms/power/web'), false)
})
