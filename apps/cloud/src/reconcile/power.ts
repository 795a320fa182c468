import type { OrgId, VmId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import { operationNamed } from '../operations.ts'
import { open } from '../store/claimable.ts'
import type { Database } from '../store/database.ts'
import { keepRequest } from '../store/request-keys.ts'
import { submitTask } from '../store/submit-task.ts'
import { lockVm } from '../store/vms.ts'
import type { Tx } from '../world.ts'
import { causedBy, NOBODY, SYSTEM } from './cause.ts'

/** What is over waits for the next pass, so that no pass takes long. */
const AT_ONCE = 500

interface Fallen {
  readonly id: VmId
  readonly org: OrgId
  readonly cause: string
}

/**
 * VMs that are seen to be off although they should be on, with nobody who does anything about it. The
 * cause names the life that ended and the boot of the host: for each of them a start is tried once.
 */
const fallen = sql`from vm join host on host.id = vm.host
  where vm.wanted = 'POWERED_ON' and vm.status = 'POWERED_OFF' and not vm.unseen
    and vm.deleted_at is null and not vm.closed and vm.leads is null and vm.holder is null
    and ${open} and not (select recovering from cloud)
    and not exists (select from task where task.vm = vm.id and task.state in ('queued', 'running'))
    and not exists (select from debt where debt.vm = vm.id)`
const cause = sql<string>`'power/' || vm.id || '/' || coalesce(host.boot, '') || '/' || coalesce(vm.last_boot, '')`

/**
 * Makes an ordinary task for each VM that should be on and is off. It only ever starts: nothing here
 * can stop a guest or take anything away, so it asks nobody first. Answers with the VMs it asked of.
 */
export async function reconcilePower(db: Kysely<Database>): Promise<readonly VmId[]> {
  const { rows } = await sql<Fallen>`
    select vm.id, vm.org, ${cause} as cause ${fallen}
      and not exists (select from request_key kept where kept.org = vm.org and kept.account = ${NOBODY}
        and kept.key = ${cause})
    order by vm.start_order, vm.id limit ${AT_ONCE}`.execute(db)
  const asked: VmId[] = []
  for (const each of rows) {
    if (await db.transaction().execute((tx) => startOnce(tx, each))) asked.push(each.id)
  }
  return asked
}

/** Looked at again under the VM's lock: what was read may be over. */
async function startOnce(tx: Tx, { id, org, cause: known }: Fallen): Promise<boolean> {
  await lockVm(tx, id)
  const { rows } = await sql`select ${fallen} and vm.id = ${id} and ${cause} = ${known}`.execute(tx)
  if (rows.length === 0) return false
  const { who, asked } = causedBy(org, known)
  const { task, again } = await keepRequest(tx, who, asked)
  if (again) return false
  await submitTask(tx, operationNamed('powerOn'), { vm: id, owner: SYSTEM, id: task })
  return true
}
