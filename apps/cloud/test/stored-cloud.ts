// A cloud with two tenants on one simulated host, without Temporal: a test decides when requests over HTTP are carried out.
import assert from 'node:assert/strict'

import { simulatedHost, type SimulatedHost } from '@skerry/lab/simulated-host'
import type { TaskId, VmId } from '@skerry/vm'
import { sql } from 'kysely'

import { CutHost, followed } from './away-host.ts'
import { seal, taskOf, vmOf } from './cloud-database.ts'
import { find, hrefOf, instantiate, openTenantsApi, read } from './tenants-api.ts'
import type { Answered, TenantsApi, Tenant } from './tenants-api.ts'
import { workQueue } from './work-queue.ts'

/** Memory and disk of each VM. */
export const VM_MIB = 64

export interface StoredCloud extends AsyncDisposable {
  readonly api: TenantsApi
  readonly host: SimulatedHost
  /** A VM that is off, in its own vApp. */
  makeVm(tenant?: Tenant): Promise<VmId>
  /** Submits an operation on a VM, and carries it out if it is accepted. */
  ask(vm: VmId, what: Asking, tenant?: Tenant): Promise<Outcome>
  /** Carries out the queued tasks of a VM. */
  work(vm: VmId): Promise<void>
  /** Counted disk of the host, in MiB. */
  placed(): Promise<number>
  /** Sets the size of the host so that this much is left. */
  leave(mib: number): Promise<void>
}

export interface Asking {
  readonly method?: string
  /** Path below the VM. */
  readonly path: string
  readonly body?: string
}

export interface Outcome extends Pick<Answered, 'status' | 'text'> {
  /** How the task ended; undefined without a task. */
  readonly state?: string
  readonly message?: string | null
  readonly fault?: string | null
}

let made = 0

export async function openStoredCloud(): Promise<StoredCloud> {
  const api = await openTenantsApi()
  const { db, host: hostId } = api.cloud
  // The initial tasks of both tenants are not needed here.
  await sql`update task set state = 'canceled', ended_at = clock_timestamp()`.execute(db)
  await sql`update vm set deleted_at = clock_timestamp(), queue_target = null`.execute(db)
  // The host reports it again with every session.
  const hello = { diskMiB: 1_000_000 }
  const host = simulatedHost({ hello })
  const following = await followed(db, hostId, new CutHost(host))
  const isWaiting = async (vm: VmId): Promise<boolean> => {
    const { rows } = await sql`select from task
      where vm = ${vm} and state in ('queued', 'running') limit 1`.execute(db)
    return rows.length > 0
  }
  const work = async (vm: VmId): Promise<void> => {
    await workQueue({ db, hosts: () => host, seal }, vm)
    // On a busy machine the host's session breaks and is opened again; the sweep wakes the queue then.
    for (let again = 1; again < 10 && (await isWaiting(vm)); again += 1) {
      await following.comeBack()
      await workQueue({ db, hosts: () => host, seal }, vm)
    }
  }
  const placed = async () => {
    const { placed_disk_mib: mib } = await db
      .selectFrom('host')
      .select('placed_disk_mib')
      .where('id', '=', hostId)
      .executeTakeFirstOrThrow()
    return mib
  }
  return {
    api,
    host,
    placed,
    work,
    async makeVm({ token, ids } = api.eng) {
      const template = (ids['template'] ?? '').replace('vappTemplate-', '')
      const body = instantiate(`stored-${(made += 1)}`, template, false)
      const path = `/api/vdc/${ids['vdc']}/action/instantiateVAppTemplate`
      const answer = read(await api.ask('POST', path, { token, body }), 201)
      const vm = hrefOf(find(answer, 'Children', 'Vm')[0]).slice(-36) as VmId
      await work(vm)
      assert.equal((await vmOf(db, vm)).status, 'POWERED_OFF')
      return vm
    },
    async ask(vm, { method = 'POST', path, body }, { token } = api.eng) {
      const whole = `/api/vApp/vm-${vm}${path}`
      const answer = await api.ask(method, whole, { token, ...(body !== undefined && { body }) })
      const { status, text } = answer
      if (status !== 202) return { status, text }
      await work(vm)
      const task = hrefOf(read(answer, 202)).slice(-36) as TaskId
      const { state, message, fault } = await taskOf(db, task)
      return { status, text, state, message, fault }
    },
    async leave(mib) {
      hello.diskMiB = (await placed()) + mib
      await sql`update host set disk_mib = ${hello.diskMiB} where id = ${hostId}`.execute(db)
    },
    async [Symbol.asyncDispose]() {
      await following[Symbol.asyncDispose]()
      await api[Symbol.asyncDispose]()
    },
  }
}

const SIZES = (mib: number) =>
  `<Vm><VirtualHardwareSection><Item><ResourceType>17</ResourceType>` +
  `<VirtualQuantity>${mib}</VirtualQuantity></Item></VirtualHardwareSection></Vm>`

/** Operations on a VM that change its storage. */
export const asking = {
  powerOn: { path: '/power/action/powerOn' },
  powerOff: { path: '/power/action/powerOff' },
  suspend: { path: '/power/action/suspend' },
  discard: { path: '/action/discardSuspendedState' },
  snapshot: { path: '/action/createSnapshot' },
  diskSnapshot: { path: '/action/createSnapshot', body: '<CreateSnapshotParams memory="false"/>' },
  removeSnapshots: { path: '/action/removeAllSnapshots' },
  grow: { path: '/action/reconfigureVm', body: SIZES(2 * VM_MIB) },
  remove: { method: 'DELETE', path: '' },
} as const satisfies Record<string, Asking>
