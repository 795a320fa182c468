import type { HostId, VmId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import type { Tx } from '../world.ts'
import type { Database } from './database.ts'
import { tell } from './events.ts'

/** What a host has that is not placed on it, as of now. Each is told once; nobody touches it until it is adopted. */
export async function keepStrays(tx: Tx, host: HostId, vms: readonly VmId[]): Promise<void> {
  await sql`delete from stray where host = ${host} and not vm = any(${vms}::uuid[])`.execute(tx)
  if (vms.length === 0) return
  const found = await tx
    .insertInto('stray')
    .values(vms.map((vm) => ({ host, vm })))
    .onConflict((conflict) => conflict.doNothing())
    .returning('vm')
    .execute()
  for (const { vm } of found) await tell(tx, { kind: 'vm.stray', host, what: { vm } })
}

export interface Stray {
  readonly vm: VmId
  readonly host: HostId
  readonly hostName: string
  readonly found: Date
}

/** All that can be adopted, as far as it is known. */
export async function listStrays(db: Kysely<Database>): Promise<readonly Stray[]> {
  return db
    .selectFrom('stray')
    .innerJoin('host', 'host.id', 'stray.host')
    .select(['stray.vm', 'host.id as host', 'host.name as hostName', 'stray.found_at as found'])
    .where('host.state', '=', 'joined')
    .orderBy('host.name')
    .orderBy('stray.vm')
    .execute()
}
