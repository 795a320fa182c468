import { Fault } from '@skerry/fault'
import type { HostId, TaskId, VmId } from '@skerry/vm'
import { sql, type Kysely, type RawBuilder } from 'kysely'

import type { Tx, CloudTables } from '../database/tables.ts'
import { lockClaimed, placedNowhere, type VmRow } from '../inventory/vms.ts'
import { isOpen } from '../tasks/claim-task.ts'
import { open } from '../tasks/claimable.ts'
import { deferUndo } from '../tasks/pending-undo.ts'

/** CPU overcommit: guest processors per host processor. Memory and disk are never overcommitted. */
const CPUS_PER_CPU = 8
/** Placement waits for a host that was seen within this time. */
const EXPECTED_SECONDS = 60

/**
 * Gives the VM a host and a new incarnation; a VM with a reachable host keeps it. If the host became unreachable
 * before the VM was ever sent to it, another host is chosen, and a deletion is stored as pending undo for the first.
 */
export async function placeVm(
  db: Kysely<CloudTables>,
  {
    vm: id,
    fencingToken,
    task,
  }: { readonly vm: VmId; readonly fencingToken: string; readonly task: TaskId },
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const vm = await lockClaimed(tx, id, fencingToken)
    if (vm.host !== null) {
      if (vm.ever_started || (await isOpen(tx, vm.host))) return
      const { host, incarnation } = vm
      await deferUndo(tx, { host, vm: id, incarnation, goal: { goal: 'gone' }, task })
    }
    // Hosts locked by another placement are skipped first; before "no room", their locks are waited for.
    const host =
      (await choose(tx, vm, sql`for no key update of host skip locked`)) ??
      (await choose(tx, vm, sql`for no key update of host`))
    if (host === undefined) throw (await isExpected(tx, vm)) ? notNow(vm) : noRoom(vm)
    await settle(tx, id, host)
  })
}

/** Places a clone on the host of its source, because the source's disk is only there. */
export async function placeBeside(
  db: Kysely<CloudTables>,
  {
    vm: id,
    fencingToken,
    source,
  }: { readonly vm: VmId; readonly fencingToken: string; readonly source: VmId },
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const vm = await lockClaimed(tx, id, fencingToken)
    if (vm.host !== null) return
    const { rows } = await sql<{ id: HostId; enabled: boolean; open: boolean; room: boolean }>`
      select host.id, host.enabled, coalesce(${open}, false) as open, ${hasRoom(vm)} as room
      from host where host.id = (select host from vm where id = ${source} and deleted_at is null and lost_reason is null)
      for no key update`.execute(tx)
    const [host] = rows
    if (!host) throw new Fault('conflict', `the source of VM ${vm.name} no longer exists`)
    if (!host.open) throw notNow(vm)
    if (!host.enabled || !host.room) throw noRoom(vm, 'the host of its source has no')
    await settle(tx, id, host.id)
  })
}

/** Assigns the VM to the host with a new incarnation. */
async function settle(tx: Tx, id: VmId, host: HostId): Promise<void> {
  await tx
    .updateTable('vm')
    .set({
      ...placedNowhere,
      host,
      incarnation: sql`next_fence()`,
      seen_session: '0',
      seen_seq: 0,
    })
    .where('id', '=', id)
    .execute()
}

/**
 * Whether the host has the capacity for this VM, is ready for its networks if it has cards on some, and has the uplinks of the direct
 * ones.
 */
const hasRoom = ({ id, org, vdc, cpus, memory_mib, stored_mib }: VmRow): RawBuilder<boolean> => sql`
  (not exists (select from nic where nic.org = ${org} and nic.vm = ${id})
    or (host.overlay = 'ready' and host.zone = (select vdc.zone from vdc where vdc.org = ${org} and vdc.id = ${vdc})))
  and not exists (select from nic join network on network.org = nic.org and network.id = nic.network
    join external_network on external_network.id = network.external
    where nic.org = ${org} and nic.vm = ${id} and not external_network.uplink = any(host.uplinks))
  and host.memory_mib - host.local_memory_mib - host.placed_memory_mib >= ${memory_mib}
  and host.disk_mib - host.placed_disk_mib >= ${stored_mib}
  and (host.cpus * ${CPUS_PER_CPU} - host.local_cpus - host.placed_cpus) >= ${cpus}`

/** Chooses among enabled, reachable hosts with capacity: fewest VMs of the same vApp first, then the least used memory. */
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
 * A host with capacity whose follower died, or that was seen a moment ago, will be reachable again soon:
 * a killed cell or vmd must not lead to "no room".
 */
async function isExpected(tx: Tx, vm: VmRow): Promise<boolean> {
  const { rows } = await sql`select from host
    where host.enabled and host.state = 'joined' and host.quarantine is null and not coalesce(${open}, false)
      and (coalesce(host.follow_until < clock_timestamp(), true)
        or host.seen_at > clock_timestamp() - ${sql.lit(`${EXPECTED_SECONDS} s`)}::interval)
      and ${hasRoom(vm)} limit 1`.execute(tx)
  return rows.length > 0
}

/** Retryable: the step is tried again. */
const notNow = ({ name }: VmRow): Fault =>
  new Fault('unavailable', `no reachable host has room for VM ${name}`, {
    detail: 'room',
  })

const noRoom = ({ name, cpus, memory_mib, stored_mib }: VmRow, principal = 'no host has'): Fault =>
  new Fault(
    'no-room',
    `${principal} room for VM ${name}: ${cpus} processors, ${memory_mib} MiB of memory, ${stored_mib} MiB of disk`,
    { hint: 'delete VMs, or ask the administrator to add or enable a host' },
  )
