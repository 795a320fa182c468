// Brings VMs into a state in which an operation would change something, by what the operation itself declares.
import assert from 'node:assert/strict'

import type { VmId } from '@skerry/vm'
import { sql, type Kysely, type RawBuilder } from 'kysely'

import type { CloudTables } from '../src/database/tables.ts'
import type { Operation } from '../src/tasks/operation.ts'
import { vmOf } from './cloud-database.ts'
import { exampleText } from './example-text.ts'

/** Changes of a VM's row after which other operations are offered. */
const ways: Readonly<Record<string, RawBuilder<unknown>>> = {
  'as it is': sql`id = id`,
  'with a snapshot': sql`snapshot = 'kept', snapshot_at = clock_timestamp(), snapshot_mib = disk_mib`,
  'with a snapshot of its memory': sql`snapshot = 'kept', snapshot_on = true, snapshot_at = clock_timestamp(),
    snapshot_mib = disk_mib + memory_mib`,
  'with nested virtualisation': sql`nested = true, snapshot = null, snapshot_on = false, snapshot_at = null, snapshot_mib = 0`,
}

/** The input of an operation, from the example of the document that it takes. */
export function inputOf({ takes }: Operation): unknown {
  return takes?.read(exampleText(takes)) ?? null
}

/** Makes the operation offered for this VM; fails if no way is known. Returns the VM. */
export async function makeOffered(
  db: Kysely<CloudTables>,
  id: VmId,
  operation: Operation | undefined,
) {
  for (const change of Object.values(ways)) {
    await sql`update vm set ${change} where id = ${id}`.execute(db)
    const vm = await vmOf(db, id)
    if (operation?.offered?.when(vm) ?? true) return vm
  }
  return assert.fail(
    `${operation?.name} is never offered: add a way to apps/cloud/test/make-offered.ts`,
  )
}
