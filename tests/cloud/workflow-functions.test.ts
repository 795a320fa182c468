// Goal: functions of a workflow take effect in the cloud, once, on behalf of the user who started it, and can be undone. Method:
// every function of the table at a real cell with its worker, on real PostgreSQL and Temporal, with a simulated host behind real
// mTLS.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

import { Cloud, type SeenVapp, type SeenVm } from '@skerry/cloud-client'
import { reasonWithoutRoot, reasonWithoutTemporal, until } from '@skerry/lab'
import { Compile } from '@skerry/schema'
import type { VmId } from '@skerry/vm'
import { sql } from 'kysely'

import {
  PASSWORD,
  startSmallCloud,
  untilOpen,
  type SmallCloud,
} from '../../apps/cloud/test/small-cloud.ts'
import { checkCredentials, readStamp } from '../../apps/workflow/src/cloud/accounts.ts'
import { Cells } from '../../apps/workflow/src/cloud/cells.ts'
import { askGrant, cloudOf, endGrant } from '../../apps/workflow/src/cloud/grants.ts'
import { callFunction, FunctionProblem } from '../../apps/workflow/src/functions/call-function.ts'
import type { FunctionContext } from '../../apps/workflow/src/functions/function.ts'
import { functions, type FunctionName } from '../../apps/workflow/src/functions/functions.ts'

const skip = reasonWithoutRoot('cloud') ?? (await reasonWithoutTemporal()) ?? false
let small: SmallCloud
let cells: Cells
let context: FunctionContext
let grant: string
let calls = 0
const called = new Set<string>()
/** Changes that functions requested without a key: a repetition would take effect again. */
const keyless: string[] = []

/** A cancellation has the same effect however often it is requested. */
function watched(cloud: Cloud): Cloud {
  const act: Cloud['act'] = (method, href, sent) => {
    if (sent?.key === undefined && !href.endsWith('/action/cancel'))
      keyless.push(`${method} ${href}`)
    return Cloud.prototype.act.call(cloud, method, href, sent)
  }
  return Object.assign(cloud, { act })
}

const alice = { user: 'alice', org: 'eng', password: PASSWORD }

before(async () => {
  if (skip !== false) return
  small = await startSmallCloud({ cells: 2 })
  await untilOpen(small.db, 1)
  const identity = await small.workflowServer('flow-1')
  // The first address has no server: an unreachable cell is skipped.
  const nobody = { address: '127.0.0.1', port: 1 }
  cells = new Cells([nobody, ...small.cells.map(({ machines }) => machines)], () => identity)
  context = {
    cloud: (id) => watched(cloudOf(cells, id)),
    now: () => performance.now(),
    pause: (ms, signal) => sleep(ms, undefined, signal && { signal }).catch(() => undefined),
  }
  const principal = await checkCredentials(cells, alice, '192.0.2.1')
  assert.ok(principal)
  grant = await askGrant(cells, { org: principal.org, account: principal.account, kind: 'run' })
})
after(async () => {
  if (skip !== false) return
  cells[Symbol.dispose]()
  await small[Symbol.asyncDispose]()
})

const anyKey = () => `run-1/${(calls += 1)}`

/** Calls a function; its result must match its row. */
async function call<T>(
  name: FunctionName,
  input: object,
  key = anyKey(),
  at = context,
): Promise<T> {
  const answer = await callFunction(at, { name, grant, key, input: input as never })
  const shape = Compile(functions[name].output)
  assert.ok(
    shape.Check(answer),
    `${name}: ${JSON.stringify([...shape.Errors(answer)].slice(0, 3))}`,
  )
  called.add(name)
  return answer as T
}

const refused = (status: number, type: string) => (error: unknown) => {
  assert.ok(error instanceof FunctionProblem, String(error))
  assert.deepEqual([error.problem.status, error.problem.type.split('/').at(-1)], [status, type])
  return true
}

const made = (name: string, powerOn = true) =>
  call<SeenVapp>('skerry.vapp.instantiate', { name, template: 'small', powerOn })
const only = ({ vms }: SeenVapp): SeenVm => {
  assert.equal(vms.length, 1)
  return vms[0] as SeenVm
}
const uuidOf = ({ id }: { readonly id: string }) => id.slice(-36) as VmId

test(
  'credentials are checked by any reachable cell; unknown ones are rejected',
  { skip },
  async () => {
    assert.equal((await checkCredentials(cells, alice, '192.0.2.1'))?.user, 'alice')
    for (const wrong of [{ password: 'x' }, { user: 'nobody' }, { org: 'nowhere' }, { user: '' }]) {
      assert.equal(await checkCredentials(cells, { ...alice, ...wrong }, '192.0.2.7'), undefined)
    }
    const before = await readStamp(cells)
    assert.equal(await readStamp(cells), before)
    await sql`update account set role = role`.execute(small.db)
    assert.notEqual(await readStamp(cells), before)
  },
)

test('a VM is created, stopped, changed, read and started', { skip }, async () => {
  const vapp = await made('one')
  const { id, status } = only(vapp)
  assert.deepEqual(
    [vapp.name, vapp.status, vapp.owner, status],
    ['one', 'POWERED_ON', 'alice', 'POWERED_ON'],
  )
  const host = small.hosts[0]
  assert.equal(host?.find(uuidOf({ id }))?.power, 'on')
  const on = (name: FunctionName, more: object = {}) => call<SeenVm>(name, { vm: id, ...more })
  assert.equal((await on('skerry.vm.get')).id, id)
  assert.equal((await on('skerry.vm.suspend')).status, 'SUSPENDED')
  assert.equal((await on('skerry.vm.discardSuspendedState')).status, 'POWERED_OFF')
  const sized = await on('skerry.vm.reconfigure', { cpus: 2, memoryMB: 128, diskMB: 80 })
  assert.deepEqual([sized.cpus, sized.memoryMB, sized.diskMB], [2, 128, 80])
  assert.equal((await on('skerry.vm.setNested', { enabled: true })).nested, true)
  assert.equal((await on('skerry.vm.powerOn')).status, 'POWERED_ON')
  assert.equal((await on('skerry.vm.waitForStatus', { status: 'POWERED_ON' })).status, 'POWERED_ON')
  assert.equal((await on('skerry.vm.reset')).status, 'POWERED_ON')
  assert.equal((await on('skerry.vm.reboot')).status, 'POWERED_ON')
  const kept = await on('skerry.vm.createSnapshot', { name: 'before', memory: false })
  assert.equal(kept.snapshot?.name, 'before')
  assert.equal((await on('skerry.vm.shutdown')).status, 'POWERED_OFF')
  assert.ok((await on('skerry.vm.revertToSnapshot')).snapshot)
  assert.equal((await on('skerry.vm.removeSnapshots')).snapshot, null)
  assert.equal((await on('skerry.vm.rename', { name: 'another' })).name, 'another')
  assert.equal((await on('skerry.vm.powerOff')).status, 'POWERED_OFF')
  assert.deepEqual(await on('skerry.vm.delete'), { id })
  assert.equal(host?.find(uuidOf({ id })), undefined)
})

/** The effect on a VM is reported once more, after its task ends: by the host itself, to its follower. This waits for that report. */
async function untilAllTold(vm: VmId): Promise<void> {
  const shows = async (status: string) => {
    const { rows } = await sql<{ status: string }>`select status from vm where id = ${vm}`.execute(
      small.db,
    )
    return rows[0]?.status === status
  }
  const host = small.hosts[0]
  host?.changePower(vm, 'paused')
  await until('it is reported as paused', () => shows('SUSPENDED'), 30_000)
  host?.changePower(vm, 'on')
  await until('it is reported as on', () => shows('POWERED_ON'), 30_000)
}

test('addresses and health are waited for, with a timeout', { skip }, async () => {
  const vm = only(await made('waited for'))
  await untilAllTold(uuidOf(vm))
  // As if its host did not know an address yet.
  await sql`update vm set network = 'n', address = null where id = ${uuidOf(vm)}`.execute(small.db)
  const none = call('skerry.vm.waitForAddress', { vm: vm.id, seconds: 1 })
  await assert.rejects(none, refused(408, 'timeout'))
  const waited = call<SeenVm>('skerry.vm.waitForAddress', { vm: vm.id })
  await sql`update vm set address = '10.84.0.5' where id = ${uuidOf(vm)}`.execute(small.db)
  assert.equal((await waited).address, '10.84.0.5')
  const began = performance.now()
  const well = await call<SeenVm>('skerry.vm.waitHealthy', { vm: vm.id, stableSeconds: 2 })
  assert.equal(well.status, 'POWERED_ON')
  assert.ok(performance.now() - began >= 2000)
})

test(
  'metadata is written, read back and deleted, of VMs as well as of vApps',
  { skip },
  async () => {
    const vapp = await made('noted', false)
    for (const [kind, id] of [
      ['vm', only(vapp).id],
      ['vapp', vapp.id],
    ] as const) {
      const input = { [kind]: id }
      const metadata = { colour: 'red & <blue>', size: 7, kept: true }
      const written = await call(`skerry.${kind}.setMetadata`, { ...input, metadata })
      assert.deepEqual(written, metadata)
      assert.deepEqual(await call(`skerry.${kind}.getMetadata`, input), metadata)
      const { size: _, ...left } = metadata
      assert.deepEqual(await call(`skerry.${kind}.removeMetadata`, { ...input, key: 'size' }), left)
    }
  },
)

test('vApps are composed, changed, copied, deployed and deleted', { skip }, async () => {
  const vms = [
    { template: 'small', name: 'a' },
    { template: 'small', name: 'b', guest: { computerName: 'bee' } },
  ]
  const vapp = await call<SeenVapp>('skerry.vapp.compose', { name: 'two', vms })
  assert.deepEqual(vapp.vms.map(({ name }) => name).toSorted(), ['a', 'b'])
  const on = (name: FunctionName, more: object = {}) =>
    call<SeenVapp>(name, { vapp: vapp.id, ...more })
  const [first] = vapp.vms
  const changed = await on('skerry.vapp.recompose', {
    add: [{ template: 'small', name: 'c' }],
    remove: [first?.id],
  })
  assert.equal(changed.vms.length, 2)
  const copy = await on('skerry.vapp.clone', { name: 'copy' })
  assert.deepEqual([copy.name, copy.vms.length, copy.status], ['copy', 2, 'POWERED_OFF'])
  assert.equal((await on('skerry.vapp.deploy', { leaseSeconds: 0 })).status, 'POWERED_ON')
  assert.equal((await on('skerry.vapp.undeploy', { by: 'suspend' })).status, 'SUSPENDED')
  assert.equal((await on('skerry.vapp.discardSuspendedState')).status, 'POWERED_OFF')
  assert.equal((await on('skerry.vapp.powerOn')).status, 'POWERED_ON')
  assert.equal((await on('skerry.vapp.reset')).status, 'POWERED_ON')
  assert.equal((await on('skerry.vapp.reboot')).status, 'POWERED_ON')
  assert.equal((await on('skerry.vapp.suspend')).status, 'SUSPENDED')
  assert.equal((await on('skerry.vapp.powerOn')).status, 'POWERED_ON')
  assert.equal((await on('skerry.vapp.shutdown')).status, 'POWERED_OFF')
  assert.ok((await on('skerry.vapp.createSnapshot', {})).vms.every(({ snapshot }) => snapshot))
  await on('skerry.vapp.revertToSnapshot')
  assert.ok((await on('skerry.vapp.removeSnapshots')).vms.every(({ snapshot }) => !snapshot))
  assert.equal((await on('skerry.vapp.rename', { name: 'pair' })).name, 'pair')
  assert.equal((await on('skerry.vapp.powerOff')).status, 'POWERED_OFF')
  assert.equal((await on('skerry.vapp.get')).name, 'pair')
  await call('skerry.vapp.delete', { vapp: vapp.id })
  await assert.rejects(on('skerry.vapp.get'), refused(404, 'communication'))
})

test('records are found', { skip }, async () => {
  await made('searched', false)
  const found = await call<{ name: string; href: string }[]>('skerry.query', {
    type: 'vApp',
    filter: 'name==searched',
    fields: ['name'],
  })
  assert.deepEqual(
    found.map(({ name }) => name),
    ['searched'],
  )
})

test(
  'a repeated call takes effect once, also if both calls run concurrently',
  { skip },
  async () => {
    const key = anyKey()
    const input = { name: 'once', template: 'small' }
    const [one, two] = await Promise.all([
      call<SeenVapp>('skerry.vapp.instantiate', input, key),
      call<SeenVapp>('skerry.vapp.instantiate', input, key),
    ])
    assert.equal(one.id, two.id)
    const vm = only(one)
    const off = anyKey()
    for (let n = 0; n < 3; n += 1) await call('skerry.vm.powerOff', { vm: vm.id }, off)
    const { rows } = await sql<{ operation: string; times: number }>`
    select operation, count(*)::integer as times from task where vm = ${uuidOf(vm)} group by 1 order by 1`.execute(
      small.db,
    )
    assert.deepEqual(rows, [
      { operation: 'create', times: 1 },
      { operation: 'powerOff', times: 1 },
      { operation: 'powerOn', times: 1 },
    ])
    const gone = anyKey()
    for (let n = 0; n < 2; n += 1) await call('skerry.vm.delete', { vm: vm.id }, gone)
    await assert.rejects(call('skerry.vm.delete', { vm: vm.id }), refused(404, 'communication'))
  },
)

test('a rejected request is a DSL error with the status of the cloud', { skip }, async () => {
  const vm = only(await made('refused', false))
  await assert.rejects(call('skerry.vm.suspend', { vm: vm.id }), refused(409, 'communication'))
  await assert.rejects(
    made('no such', false).then(() =>
      call('skerry.vapp.instantiate', { name: 'x', template: 'none' }),
    ),
    refused(404, 'communication'),
  )
  await assert.rejects(call('skerry.query', { type: 'nothing' }), refused(400, 'validation'))
  await assert.rejects(call('skerry.query', { type: 'adminVM' }), refused(403, 'authorization'))
  await assert.rejects(
    call('skerry.vm.get', { vm: '00000000-0000-7000-8000-000000000000' }),
    refused(404, 'communication'),
  )
})

test(
  'a canceled run asks the cloud to undo its task; a stopping worker does not',
  { skip },
  async () => {
    const vm = only(await made('canceled', false))
    // Its host accepts no work: the task waits.
    await sql`update host set quarantine = 'held'`.execute(small.db)
    const state = async () => {
      const { rows } = await sql<{ state: string }>`select state from task
      where vm = ${uuidOf(vm)} and operation = 'powerOn' order by id desc limit 1`.execute(small.db)
      return rows[0]?.state
    }
    const begin = async (isCanceled: boolean) => {
      const stop = new AbortController()
      const key = anyKey()
      const at = { ...context, signal: stop.signal, isCanceled: () => isCanceled }
      const waiting = call('skerry.vm.powerOn', { vm: vm.id }, key, at)
      const ended = assert.rejects(waiting, /stop now/)
      await until('it waits', async () => (await state()) === 'queued', 60_000)
      stop.abort(new Error('stop now'))
      await ended
      return key
    }
    const key = await begin(false)
    assert.equal(await state(), 'queued')
    await sql`update host set quarantine = null`.execute(small.db)
    const again = await call<SeenVm>('skerry.vm.powerOn', { vm: vm.id }, key)
    assert.equal(again.status, 'POWERED_ON')
    await call('skerry.vm.powerOff', { vm: vm.id })
    await sql`update host set quarantine = 'held'`.execute(small.db)
    await begin(true)
    assert.equal(await state(), 'canceled')
    await sql`update host set quarantine = null`.execute(small.db)
  },
)

test('a cell that dies while a call waits is skipped', { skip }, async () => {
  const vm = only(await made('outlived', false))
  const waiting = call<SeenVm>('skerry.vm.powerOn', { vm: vm.id })
  await small.cells[0]?.kill9()
  assert.equal((await waiting).status, 'POWERED_ON')
  await small.cells[0]?.start()
})

test('every function was called', { skip }, () => {
  assert.deepEqual([...called].toSorted(), Object.keys(functions).toSorted())
})

test('every change that a function requests carries a key', { skip }, () => {
  assert.deepEqual(keyless, [])
})

test('nothing is executed once the grant has ended', { skip }, async () => {
  await endGrant(cells, grant)
  await endGrant(cells, grant)
  await assert.rejects(call('skerry.query', { type: 'vm' }), refused(401, 'authentication'))
})
