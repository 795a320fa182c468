// Invariants of a whole cloud once it is idle: Postgres, libvirt and the files of every host, vmd's ledgers, tasks and events
// agree. Each returned line is a violation that a user or an operator would notice.
import { sql, type RawBuilder } from 'kysely'

import type { Accepted } from './lane.ts'
import { cloudLeftovers, type Placed } from './leftovers.ts'
import { networkInvariants } from './network-invariants.ts'
import type { Place } from './place.ts'

export interface Asked {
  readonly accepted: readonly Accepted[]
}

export async function invariants(place: Place, requested: Asked): Promise<string[]> {
  const found = await Promise.all([
    queries(place),
    requests(place, requested),
    onHosts(place),
    networkInvariants(place),
  ])
  const twice = place.qemus.doubled.map((line) => `at one moment ${line}`)
  return [...twice, ...found.flat()]
}

/** These queries must return nothing; each row is reported by its `which`. */
const rules: readonly { readonly says: string; readonly where: RawBuilder<unknown> }[] = [
  {
    says: 'a task has not ended',
    where: sql`select id || ' ' || operation || ' is ' || state as which from task where state in ('queued', 'running')`,
  },
  {
    says: 'a task has ended without an end time',
    where: sql`select id as which from task where ended_at is null`,
  },
  {
    says: 'a task does not have exactly one end event',
    where: sql`select task.id || ' ' || task.state || ': ' || coalesce(string_agg(event.kind, ' '), 'none') as which
      from task left join event on event.task = task.id and event.kind in ('task.success', 'task.error', 'task.canceled')
      group by task.id having count(event.kind) <> 1 or min(event.kind) <> 'task.' || min(task.state)`,
  },
  {
    says: 'a task does not have exactly one queued event',
    where: sql`select task.id as which from task
      left join event on event.task = task.id and event.kind = 'task.queued'
      group by task.id having count(event.kind) <> 1`,
  },
  {
    says: 'a task ended before an earlier one of its VM',
    where: sql`select later.id as which from task later join task earlier on earlier.vm = later.vm
      and earlier.position < later.position and earlier.started_at is not null
      and later.started_at is not null and earlier.ended_at > later.started_at`,
  },
  {
    says: 'a parent task ended before its children, or with another result',
    where: sql`select whole.id || ' ' || whole.state as which from task whole
      join task part on part.parent = whole.id
      group by whole.id having max(part.ended_at) > whole.ended_at
        or (whole.state = 'success') <> bool_and(part.state = 'success')`,
  },
  {
    says: 'a VM is held, or has a desired status, without an open task',
    where: sql`select id || ' ' || coalesce(holder, '') || ' ' || coalesce(queue_target, '') as which from vm
      where (holder is not null and lease_until > clock_timestamp()) or queue_target is not null`,
  },
  {
    says: 'a VM does not have its desired status',
    where: sql`select id || ' is ' || displayed_status || ', desired ' || desired_power as which from vm
      where deleted_at is null and status <> 'FAILED_CREATION' and displayed_status <> desired_power`,
  },
  {
    says: 'a VM is closed and not deleted, or deleted and on a host',
    where: sql`select id as which from vm where (closed and deleted_at is null)
      or (deleted_at is not null and host is not null)`,
  },
  {
    says: 'a vApp is deleted and has VMs, or is closed and not deleted',
    where: sql`select vapp.id as which from vapp where (closed and deleted_at is null)
      or (deleted_at is not null and exists (select from vm where vm.vapp = vapp.id and vm.deleted_at is null))`,
  },
  {
    says: 'the sums of a host do not match its VMs',
    where: sql`select host.name || ': ' || placed_cpus || ' ' || placed_memory_mib || ' ' || placed_disk_mib as which
      from host left join vm on vm.host = host.id and vm.deleted_at is null
      group by host.id having placed_cpus <> coalesce(sum(vm.cpus), 0)
        or placed_memory_mib <> coalesce(sum(vm.memory_mib), 0)
        or placed_disk_mib <> coalesce(sum(vm.stored_mib), 0)`,
  },
  {
    says: 'a host is not open, or in quarantine',
    where: sql`select name || ' ' || coalesce(quarantine, '') as which from host
      where quarantine is not null or list_session <> session or follow_until < clock_timestamp()`,
  },
  {
    says: 'an undo is still pending',
    where: sql`select vm || ' ' || goal as which from pending_undo`,
  },
  {
    says: 'a change of a network is not projected, or did not succeed',
    where: sql`select kind || ' ' || unit || ' ' || coalesce(fault, '') as which from network_change
      union all select id || ' ' || operation || ' ' || state from task where network is not null and state <> 'success'`,
  },
  {
    says: 'the cloud recovers without a restore',
    where: sql`select 'cloud' as which from cloud where recovering`,
  },
  {
    says: 'there is an event for administrators that should not exist',
    where: sql`select kind || ' ' || coalesce(vm::text, '') || ' ' || details as which from event
      where kind in ('vm.missing', 'vm.orphaned', 'undo.refused', 'host.quarantined', 'cloud.recovering', 'network.refused')`,
  },
  {
    says: 'the cloud itself started a VM twice for one cause, or without a cause',
    where: sql`select task.id as which from task left join request_key on request_key.task = task.id
      where task.owner = 'system' and task.parent is null
      group by task.id having count(request_key.key) <> 1`,
  },
]

/** One after the other: all at once they wait for connections longer than the pool allows on a busy machine. */
async function queries({ db }: Place): Promise<string[]> {
  const found: string[] = []
  for (const { says, where } of rules) {
    const { rows } = await sql<{ which: string }>`${where}`.execute(db)
    found.push(...rows.map(({ which }) => `${says}: ${which}`))
  }
  return found
}

/** Each accepted request is one task, the one that its response named; and there are no others. */
async function requests({ db }: Place, { accepted }: Asked): Promise<string[]> {
  const { rows } = await sql<{ key: string; task: string; there: boolean }>`
    select key, task, exists (select from task where task.id = request_key.task) as there
    from request_key where key not like 'power/%'`.execute(db)
  const kept = new Map(rows.map((row) => [row.key, row]))
  const lost = accepted.flatMap(({ key, what, task }) => {
    const row = kept.get(key)
    kept.delete(key)
    if (!row?.there) return [`${what} was accepted and has no task`]
    return task.endsWith(row.task) ? [] : [`${what} was answered ${task}, stored is ${row.task}`]
  })
  const { rows: more } = await sql<{ id: string; operation: string }>`
    select id, operation from task where parent is null
      and not exists (select from request_key where request_key.task = task.id)`.execute(db)
  return [
    ...lost,
    ...[...kept.values()].map(({ key }) => `the request ${key} was stored and never answered`),
    ...more.map(({ id, operation }) => `no request created task ${id}, ${operation}`),
  ]
}

/** The hosts have what the rows say, and nothing else. */
async function onHosts({ db, hosts }: Place): Promise<string[]> {
  const { rows } = await sql<Placed & { host: string }>`
    select vm.id, vm.incarnation, vm.fence, vm.status, host.name as host
    from vm join host on host.id = vm.host where vm.deleted_at is null`.execute(db)
  const found = await Promise.all(
    hosts.map((host) =>
      cloudLeftovers(
        host,
        rows.filter((row) => row.host === host.name),
      ),
    ),
  )
  return found.flat()
}
