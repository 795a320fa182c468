import type { HostId, VmId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import { emitEvent } from '../database/events.ts'
import type { Tx, CloudTables } from '../database/tables.ts'

/** Stores the orphans of a host: VMs that it has but that are not placed on it. Each emits one event and stays untouched until adoption. */
export async function keepOrphans(tx: Tx, host: HostId, vms: readonly VmId[]): Promise<void> {
  await sql`delete from orphan where host = ${host} and not vm = any(${vms}::uuid[])`.execute(tx)
  if (vms.length === 0) return
  const found = await tx
    .insertInto('orphan')
    .values(vms.map((vm) => ({ host, vm })))
    .onConflict((conflict) => conflict.doNothing())
    .returning('vm')
    .execute()
  for (const { vm } of found) await emitEvent(tx, { kind: 'vm.orphaned', host, details: { vm } })
}

export interface Orphan {
  readonly vm: VmId
  readonly host: HostId
  readonly hostName: string
  readonly found: Date
}

/** All known orphans, which can be adopted. */
export async function listOrphans(db: Kysely<CloudTables>): Promise<readonly Orphan[]> {
  return db
    .selectFrom('orphan')
    .innerJoin('host', 'host.id', 'orphan.host')
    .select(['orphan.vm', 'host.id as host', 'host.name as hostName', 'orphan.found_at as found'])
    .where('host.state', '=', 'joined')
    .orderBy('host.name')
    .orderBy('orphan.vm')
    .execute()
}
