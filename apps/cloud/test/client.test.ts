// Goal: the client of our own programs works with the real cloud. Method: packages/cloud-client at the tenant API and, on behalf of
// a run, at the machine API, on a real PostgreSQL; the test ends queued tasks directly in the tables.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

import {
  cancelTask,
  Cloud,
  linkOf,
  linkTo,
  metadataIn,
  query,
  quoted,
  taskIn,
  vappIn,
  vmIn,
  waitTask,
  type SendRequest,
  type Waiting,
} from '@skerry/cloud-client'
import { attribute, element } from '@skerry/xml'
import { sql } from 'kysely'

import { openTestWorkflowApi, type TestWorkflowApi } from './workflow-api.ts'

let flow: TestWorkflowApi
let ways: Readonly<Record<string, Cloud>>
before(async () => {
  flow = await openTestWorkflowApi()
  const { eng, ask } = flow.api
  const byToken: SendRequest = ({ method, path, headers, body }) =>
    ask(method, path, { token: eng.token, headers, ...(body !== undefined && { body }) })
  const { id } = await flow.addUser(eng.org, 'author')
  const grant = await flow.grant(eng.org, id)
  const byGrant: SendRequest = ({ method, path, headers, body }) =>
    flow.askAs(grant, method, path, { headers, ...(body !== undefined && { body }) })
  ways = { 'with a token': new Cloud(byToken), 'as a run': new Cloud(byGrant) }
})
after(() => flow[Symbol.asyncDispose]())

const waiting: Waiting = {
  now: () => performance.now(),
  pause: (ms, signal) => sleep(ms, undefined, signal && { signal }).catch(() => undefined),
}

const vmHref = () => `/api/vApp/${flow.api.eng.ids['entity']}`

test('links lead from the session to a vApp and its VMs, with a token and as a run', async () => {
  for (const [way, cloud] of Object.entries(ways)) {
    const org = await cloud.get(linkTo(await cloud.session(), 'down', 'org'))
    const vdc = await cloud.get(linkTo(org, 'down', 'vdc'))
    assert.equal(attribute(vdc, 'name'), 'centre', way)
    const vapp = vappIn(await cloud.get(`/api/vApp/${flow.api.eng.vapp}`))
    assert.deepEqual([vapp.id, vapp.name, vapp.owner], [flow.api.eng.vapp, 'first', 'alice'], way)
    const [child] = vapp.vms
    const vm = vmIn(await cloud.get(child?.href ?? ''))
    assert.deepEqual(vm, child)
    assert.deepEqual(
      [vm.id, vm.vapp, vm.status, vm.cpus, vm.memoryMB, vm.diskMB, vm.address, vm.snapshot],
      [flow.api.eng.ids['entity'], vapp.id, 'UNRESOLVED', 1, 64, 64, null, null],
    )
  }
})

test('an action that is not possible now has no link, and a missing resource is reported', async () => {
  const [cloud] = Object.values(ways) as [Cloud]
  const vm = await cloud.get(vmHref())
  assert.equal(linkOf(vm, 'power:suspend'), undefined)
  assert.throws(() => linkTo(vm, 'power:suspend'), { kind: 'conflict' })
  const foreign = `/api/vApp/${flow.api.ops.ids['entity']}`
  await assert.rejects(cloud.get(foreign), { kind: 'not-found' })
  await assert.rejects(cloud.act('POST', `${vmHref()}/power/action/suspend`), { kind: 'conflict' })
})

test('a query is read page by page, to its end or up to a limit', async () => {
  const [cloud] = Object.values(ways) as [Cloud]
  await flow.api.cloud.addVms(260)
  const all = await Array.fromAsync(query(cloud, { type: 'vm', fields: ['name'], sortAsc: 'name' }))
  assert.equal(all.length, 261)
  assert.equal(new Set(all.map(({ href }) => href)).size, 261)
  const some = query(cloud, { type: 'vm', filter: 'name==vm-1*', sortAsc: 'name', limit: 3 })
  const names = (await Array.fromAsync(some)).map(({ name }) => name)
  assert.deepEqual(names, ['vm-1', 'vm-10', 'vm-100'])
  await assert.rejects(Array.fromAsync(query(cloud, { type: 'nothing' })), { kind: 'invalid' })
})

test('a resource is found by name, with any characters in the name', async () => {
  const [cloud] = Object.values(ways) as [Cloud]
  for (const name of ['a,b', 'a;b', '(a)', 'a*b', 'a\\b', 'a b', 'ä&<>"', "a'b"]) {
    const task = await cloud.act('PUT', vmHref(), { body: element('Vm', { name }) })
    await waitTask(cloud, task as NonNullable<typeof task>, waiting)
    const found = query(cloud, { type: 'vm', filter: `name==${quoted(name)}` })
    assert.deepEqual(
      (await Array.fromAsync(found)).map((each) => each['name']),
      [name],
    )
  }
})

test('metadata values have their types', async () => {
  const [cloud] = Object.values(ways) as [Cloud]
  const entry = (key: string, type: string, value: string) =>
    element(
      'MetadataEntry',
      {},
      element('Key', {}, key),
      element(
        'TypedValue',
        { 'xmlns:xsi': 'http://www.w3.org/2001/XMLSchema-instance', 'xsi:type': type },
        element('Value', {}, value),
      ),
    )
  const body = element(
    'Metadata',
    {},
    entry('colour', 'MetadataStringValue', 'red'),
    entry('size', 'MetadataNumberValue', '7'),
    entry('kept', 'MetadataBooleanValue', 'true'),
  )
  await cloud.act('POST', `${vmHref()}/metadata`, { body })
  const metadata = metadataIn(await cloud.get(`${vmHref()}/metadata`))
  assert.deepEqual(metadata, { colour: 'red', size: 7, kept: true })
})

/** Ends the only open task of a VM, as its worker would. */
const end = (vm: string, state: string, fault: string | null, message: string | null) =>
  sql`update task set state = ${state}, fault = ${fault}, message = ${message}, ended_at = clock_timestamp()
    where vm = ${vm} and state = 'queued'`.execute(flow.api.cloud.db)

test('waiting for a task returns its result or throws its failure', async () => {
  const [cloud] = Object.values(ways) as [Cloud]
  const begin = async () => {
    const [vm = ''] = (await flow.api.cloud.addVms(1)).vms
    const document = await cloud.get(`/api/vApp/vm-${vm}`)
    const task = await cloud.act('POST', linkTo(document, 'power:powerOn'), { key: `on/${vm}` })
    assert.ok(task)
    return { vm, task: taskIn(task) as typeof task, href: linkTo(document, 'power:powerOn') }
  }
  const good = await begin()
  const done = waitTask(cloud, good.task, waiting)
  await end(good.vm, 'success', null, 'as it should')
  const { owner, details } = await done
  assert.deepEqual([owner.name, details], ['vm-0', 'as it should'])
  const again = await cloud.act('POST', good.href, { key: `on/${good.vm}` })
  assert.equal(
    attribute(again, 'href'),
    attribute(good.task, 'href'),
    'the same key, the same task',
  )

  const bad = await begin()
  await end(bad.vm, 'error', 'no-room', 'no host has room')
  await assert.rejects(waitTask(cloud, bad.task, waiting), {
    kind: 'no-room',
    message: 'no host has room',
  })

  const over = await begin()
  await cancelTask(cloud, attribute(over.task, 'href') ?? '')
  await assert.rejects(waitTask(cloud, over.task, waiting), { kind: 'canceled' })
  await cancelTask(cloud, attribute(over.task, 'href') ?? '')

  const slow = await begin()
  const late = waitTask(cloud, slow.task, { ...waiting, withinMs: 300 })
  await assert.rejects(late, { kind: 'timed-out' })
  const stop = new AbortController()
  const stopped = waitTask(cloud, slow.task, { ...waiting, signal: stop.signal })
  stop.abort(new Error('no more'))
  await assert.rejects(stopped, /no more/)
  const { rows } = await sql<{ cancel_requested: boolean }>`
    select cancel_requested from task where vm = ${slow.vm}`.execute(flow.api.cloud.db)
  assert.deepEqual(rows, [{ cancel_requested: false }], 'an abandoned wait cancels nothing')
})

test('waiting survives a cloud that is unavailable for a while, but not one that rejects the request', async () => {
  const [vm = ''] = (await flow.api.cloud.addVms(1)).vms
  const { eng, ask } = flow.api
  let away = 3
  let status: number | undefined
  const cloud = new Cloud(async ({ method, path, headers }) => {
    if (status !== undefined) return { status, headers: {}, text: '' }
    if (path.includes('/task/') && away-- > 0) return { status: 503, headers: {}, text: '' }
    return ask(method, path, { token: eng.token, headers })
  })
  const task = await cloud.act('POST', `/api/vApp/vm-${vm}/power/action/powerOn`)
  assert.ok(task)
  const done = waitTask(cloud, task, waiting)
  await end(vm, 'success', null, null)
  await done
  assert.ok(away < 0)
  const waited = { ...task, attributes: { ...task.attributes, status: 'running' } }
  status = 401
  await assert.rejects(waitTask(cloud, waited, waiting), { kind: 'unauthenticated' })
  status = 503
  let now = 0
  const impatient = { ...waiting, now: () => (now += 20_000) }
  await assert.rejects(waitTask(cloud, waited, impatient), { kind: 'unavailable' })
})
