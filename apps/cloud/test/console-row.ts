import assert from 'node:assert/strict'

import { sql } from 'kysely'

import type { CloudDatabase } from './cloud-database.ts'

/** An open screen of a VM. */
export async function addConsole(
  db: CloudDatabase['db'],
  vm: string,
  account: string,
): Promise<string> {
  const { rows } = await sql<{ id: string }>`
    insert into console (org, vapp, vm, boot, host, account_org, account, user_name, address, via)
    select vm.org, vm.vapp, vm.id, 'boot', host.id, account.org, account.id, account.name, '192.0.2.7', 'console-1'
    from vm, account, (select id from host limit 1) host where vm.id = ${vm} and account.id = ${account}
    returning id`.execute(db)
  assert.ok(rows[0])
  return rows[0].id
}
