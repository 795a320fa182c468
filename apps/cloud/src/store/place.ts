import { Fault } from '@skerry/fault'
import type { HostId, TaskId, VmId } from '@skerry/vm'
import { sql, type Kysely, type RawBuilder } from 'kysely'

import type { Tx } from '../world.ts'
import { isOpen } from './claim-task.ts'
import { open } from './claimable.ts'
import type { Database } from './database.ts'
import { owe } from './debts.ts'
import { lockClaimed, nowhere, type VmRow } from './vms.ts'

/** How many guests' processors may share one of the machine's. Memory and disk are never shared. */
const CPUS_PER_CPU = 8
/** A host that was seen so short a time ago is waited for. */
const EXPECTED_SECONDS = 60

/**
 * Gives the VM a host and a new incarnation; one that has a host it can reach keeps it. A host that
 * went away before the VM ever ran is left, and owes us that nothing of it remains.
 */
export async function placeVm(
  db: Kysely<Database>,
  { vm: id, number, task }: { readonly vm: VmId; readonly number: string; readonly task: TaskId },
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const vm = await lockClaimed(tx, id, number)
    if (vm.host !== null) {
      if (vm.sent_on || (await isOpen(tx, vm.host))) return
      const { host, incarnation } = vm
      await owe(tx, { host, vm: id, incarnation, goal: { be: 'gone' }, task })
    }
    // A host that another placement holds is passed by first; before "no room" it is waited for.
    const host =
      (await choose(tx, vm, sql`for no key update of host skip locked`)) ??
      (await choose(tx, vm, sql`for no key update of host`))
    if (host === undefined) throw (await isExpected(tx, vm)) ? notNow(vm) : noRoom(vm)
    await settle(tx, id, host)
  })
}

/** Gives a copy the host of the VM that it is a copy of: its disk is there, and nowhere else. */
export async function placeBeside(
  db: Kysely<Database>,
  { vm: id, number, source }: { readonly vm: VmId; readonly number: string; readonly source: VmId },
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const vm = await lockClaimed(tx, id, number)
    if (vm.host !== null) return
    const { rows } = await sql<{ id: HostId; enabled: boolean; open: boolean; room: boolean }>`
      select host.id, host.enabled, coalesce(${open}, false) as open, ${hasRoom(vm)} as room
      from host where host.id = (select host from vm where id = ${source} and deleted_at is null and fate is null)
      for no key update`.execute(tx)
    const [host] = rows
    if (!host) throw new Fault('conflict', `what VM ${vm.name} is to be a copy of is no more`)
    if (!host.open) throw notNow(vm)
    if (!host.enabled || !host.room) throw noRoom(vm, 'the host of what it is a copy of has no')
    await settle(tx, id, host.id)
  })
}

/** From here on it is that host's, in a new life. */
async function settle(tx: Tx, id: VmId, host: HostId): Promise<void> {
  await tx
    .updateTable('vm')
    .set({
      ...{ ...nowhere, host, incarnation: sql`next_number()` },
      ...{ seen_session: '0', seen_seq: 0 },
    })
    .where('id', '=', id)
    .execute()
}

/** Nobody can take more than a machine has. */
const hasRoom = ({ cpus, memory_mib, disk_mib }: VmRow): RawBuilder<boolean> => sql`
  host.memory_mib - host.local_memory_mib - host.placed_memory_mib >= ${memory_mib}
  and host.disk_mib - host.placed_disk_mib >= ${disk_mib}
  and (host.cpus * ${CPUS_PER_CPU} - host.local_cpus - host.placed_cpus) >= ${cpus}`

/** Enabled, open, with room; without a VM of the same vApp if there is one; then the least used. */
async function choose(tx: Tx, vm: VmRow, lock: RawBuilder<unknown>): Promise<HostId | undefined> {
  const { rows } = await sql<{ id: HostId }>`
    select host.id from host
    where host.enabled and ${open} and ${hasRoom(vm)}
    order by (select count(*) from vm where vm.host = host.id and vm.vapp = ${vm.vapp} and vm.deleted_at is null),
      host.placed_memory_mib::float / nullif(host.memory_mib, 0), host.id
    limit 1 ${lock}`.execute(tx)
  return rows[0]?.id
}

/**
 * A host with room that nobody has looked at since its follower died, or that was seen a moment ago,
 * is about to be open again: that a cell or a vmd was killed is no reason to say that there is no room.
 */
async function isExpected(tx: Tx, vm: VmRow): Promise<boolean> {
  const { rows } = await sql`select from host
    where host.enabled and host.state = 'joined' and host.quarantine is null and not coalesce(${open}, false)
      and (coalesce(host.follow_until < clock_timestamp(), true)
        or host.seen_at > clock_timestamp() - ${sql.lit(`${EXPECTED_SECONDS} s`)}::interval)
      and ${hasRoom(vm)} limit 1`.execute(tx)
  return rows.length > 0
}

/** Passes: the step is tried again. */
const notNow = ({ name }: VmRow): Fault =>
  new Fault('unavailable', `no host that can be reached now has room for VM ${name}`)

const noRoom = ({ name, cpus, memory_mib, disk_mib }: VmRow, who = 'no host has'): Fault =>
  new Fault(
    'no-room',
    `${who} room for VM ${name}: ${cpus} processors, ${memory_mib} MiB of memory, ${disk_mib} MiB of disk`,
    { hint: 'delete VMs, or let the administrator add or enable a host' },
  )
