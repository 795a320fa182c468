import type { OrgId, VmId } from '@skerry/vm'
import { sql } from 'kysely'

import type { Tx } from '../database/tables.ts'

/** A card that left a network, and comes back if the task that moved it fails. */
export interface LeavingNic {
  readonly vm: VmId
  readonly vmName: string
  readonly offset: number | null
  readonly mac: string
  readonly key: number
}

/** What these cards had stays theirs until their task ends. They are stored in its input. */
export async function leavingNics(
  tx: Tx,
  { org, id }: { readonly org: OrgId; readonly id: string },
): Promise<readonly LeavingNic[]> {
  const { rows } = await sql<LeavingNic>`
    select task.vm, vm.name as "vmName", card."offset", card.mac, card.key
    from task join vm on vm.org = task.org and vm.id = task.vm,
      jsonb_to_recordset(task.input -> 'before') as card(network uuid, "offset" integer, mac text, key integer)
    where task.org = ${org} and task.state = 'running' and task.operation = 'connect'
      and task.input ? 'before' and card.network = ${id}
    order by vm.name`.execute(tx)
  return rows
}
