import type { OrgId, VmId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import { keepRequest } from '../database/request-keys.ts'
import type { Tx, CloudTables } from '../database/tables.ts'
import { lockVm } from '../inventory/vms.ts'
import { operationNamed } from '../operations/vm-operations.ts'
import { open } from '../tasks/claimable.ts'
import { submitTask } from '../tasks/submit-task.ts'
import { causedBy, NO_ACCOUNT, SYSTEM } from './cause.ts'

/** The rest waits for the next pass, so that no pass takes long. */
const AT_ONCE = 500

interface FallenVm {
  readonly id: VmId
  readonly org: OrgId
  readonly cause: string
}

/**
 * VMs that are off but should be on, and have no open task. The cause names the boot of the VM that
 * ended and the boot of the host: for each pair, a start is tried once.
 */
const fallen = sql`from vm join host on host.id = vm.host
  where vm.desired_power = 'POWERED_ON' and vm.status = 'POWERED_OFF' and not vm.host_silent
    and vm.deleted_at is null and not vm.closed and vm.queue_target is null and vm.holder is null
    and ${open} and not (select recovering from cloud)
    and not exists (select from task where task.vm = vm.id and task.state in ('queued', 'running'))
    and not exists (select from pending_undo where pending_undo.vm = vm.id)`
const cause = sql<string>`'power/' || vm.id || '/' || coalesce(host.boot, '') || '/' || coalesce(vm.last_boot, '')`

/**
 * Submits an ordinary task for each VM that is off but should be on. It only ever starts VMs: it cannot
 * stop a guest or delete anything, so it needs no confirmation. Returns the VMs that got a task.
 */
export async function reconcilePower(db: Kysely<CloudTables>): Promise<readonly VmId[]> {
  const { rows } = await sql<FallenVm>`
    select vm.id, vm.org, ${cause} as cause ${fallen}
      and not exists (select from request_key kept where kept.org = vm.org and kept.account = ${NO_ACCOUNT}
        and kept.key = ${cause})
    order by vm.start_order, vm.id limit ${AT_ONCE}`.execute(db)
  const requested: VmId[] = []
  for (const each of rows) {
    if (await db.transaction().execute((tx) => startOnce(tx, each))) requested.push(each.id)
  }
  return requested
}

/** Checks again under the VM's lock: the state may have changed. */
async function startOnce(tx: Tx, { id, org, cause: known }: FallenVm): Promise<boolean> {
  await lockVm(tx, id)
  const { rows } = await sql`select ${fallen} and vm.id = ${id} and ${cause} = ${known}`.execute(tx)
  if (rows.length === 0) return false
  const { principal, requested } = causedBy(org, known)
  const { task, again } = await keepRequest(tx, principal, requested)
  if (again) return false
  await submitTask(tx, operationNamed('powerOn'), { vm: id, owner: SYSTEM, id: task })
  return true
}
