// Goal: a tenant's request reaches a host, and the result the tenant. Method: a real cell, Postgres and Temporal; the host is
// simulated.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { reasonWithoutRoot, reasonWithoutTemporal, until } from '@skerry/lab'
import { attribute, childrenByLocalName } from '@skerry/xml'

import { original } from '../../apps/cloud/src/dialect/dialect.ts'
import { taskOf } from '../../apps/cloud/test/cloud-client.ts'
import { startSmallCloud, untilOpen, type SmallCloud } from '../../apps/cloud/test/small-cloud.ts'

const skip = reasonWithoutRoot('cloud') ?? (await reasonWithoutTemporal()) ?? false
let cloud: SmallCloud
before(async () => {
  if (skip !== false) return
  cloud = await startSmallCloud({ cells: 2, hosts: 1 })
  await untilOpen(cloud.db, 1)
})
after(() => cloud?.[Symbol.asyncDispose]())

const statusOf = async (name: string): Promise<string | undefined> => {
  const client = await cloud.logIn(1)
  const root = await client.get(`/api/query?type=vm&filter=containerName==${name}`)
  const [record] = childrenByLocalName(root, 'VMRecord')
  return attribute(record, 'status')
}

test('log in, instantiate, query, power, delete, by either cell', { skip }, async (t) => {
  const client = await cloud.logIn()
  const made = await client.instantiate('one')
  assert.equal(made.status, 201, made.text)
  const began = performance.now()
  assert.equal(attribute(await client.ended(taskOf(made.root)), 'status'), 'success')
  t.diagnostic(`created and started in ${Math.round(performance.now() - began)} ms`)
  assert.equal(await statusOf('one'), 'POWERED_ON')
  const vapp = attribute(made.root, 'href') ?? ''
  const other = client.at(cloud.cells[1]?.url ?? '')
  const off = await other.ask('POST', `${vapp}/power/action/powerOff`)
  assert.equal(off.status, 202, off.text)
  assert.equal(attribute(await client.ended(taskOf(off.root)), 'status'), 'success')
  assert.equal(await statusOf('one'), 'POWERED_OFF')
  const gone = await client.ask('DELETE', vapp)
  assert.equal(gone.status, 202, gone.text)
  assert.equal(attribute(await client.ended(taskOf(gone.root)), 'status'), 'success')
  assert.equal((await client.ask('GET', vapp)).status, 404)
  assert.equal(await statusOf('one'), undefined)
})

test('the same with the original names, at the other address of a cell', { skip }, async () => {
  const client = await cloud.logInAsBefore()
  const made = await client.instantiate('old')
  assert.equal(made.status, 201, made.text)
  assert.equal(attribute(made.root, 'xmlns'), original.namespace('vApp'))
  const task = taskOf(made.root)
  assert.ok(task.startsWith(`${cloud.cells[0]?.original}/api/task/`), task)
  const words = new Set<string | undefined>()
  const isMade = async () => {
    const status = attribute(await client.get(task), 'status')
    words.add(status)
    return status === 'success'
  }
  await until('it is made', isMade, 60_000)
  assert.deepEqual(
    [...words].filter((word) => word !== 'running' && word !== 'success'),
    [],
    'a waiting task is shown as running',
  )
  assert.equal(await statusOf('old'), 'POWERED_ON')
  const vapp = attribute(made.root, 'href') ?? ''
  const early = await client.ask('DELETE', vapp)
  assert.equal(early.status, 400, 'it is on')
  const off = await client.ask('POST', `${vapp}/power/action/powerOff`)
  await client.ended(taskOf(off.root))
  const gone = await client.ask('DELETE', vapp)
  assert.equal(gone.status, 202, gone.text)
  await client.ended(taskOf(gone.root))
  assert.equal((await client.ask('GET', vapp)).status, 403)
})

test('fifty concurrent power commands to one VM all end, in order', { skip }, async (t) => {
  const client = await cloud.logIn()
  const made = await client.instantiate('busy', { power: false })
  await client.ended(taskOf(made.root))
  const vapp = attribute(made.root, 'href') ?? ''
  const [children] = childrenByLocalName(await client.get(vapp), 'Children')
  const vm = attribute(childrenByLocalName(children, 'Vm')[0], 'href') ?? ''
  const began = performance.now()
  const replies = await Promise.all(
    Array.from({ length: 50 }, (_, n) =>
      // To both cells, and both commands to each of them.
      client
        .at(cloud.cells[n % 4 < 2 ? 0 : 1]?.url ?? '')
        .ask('POST', `${vm}/power/action/${n % 2 ? 'powerOff' : 'powerOn'}`),
    ),
  )
  for (const { status, text } of replies) assert.equal(status, 202, text)
  for (const { root } of replies) await client.ended(taskOf(root))
  t.diagnostic(`50 in ${Math.round(performance.now() - began)} ms`)
  const ends = await cloud.db
    .selectFrom('event')
    .innerJoin('task', 'task.id', 'event.task')
    .select(['task.position', 'task.state'])
    .where('event.kind', 'in', ['task.success', 'task.error'])
    .where('task.vm', '=', vm.slice(-36) as never)
    .orderBy('event.tx')
    .orderBy('event.seq')
    .execute()
  assert.deepEqual(
    ends.map(({ position }) => position),
    ends.map((_, at) => at + 1),
  )
  assert.ok(ends.every(({ state }) => state === 'success'))
})
