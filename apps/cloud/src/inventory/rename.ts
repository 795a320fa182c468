import { Fault } from '@skerry/fault'

import type { Tx } from '../database/tables.ts'
import { orConflict } from '../tenants/accounts.ts'
import { lockVapp, type Subject } from './vapps.ts'
import { lockVm } from './vms.ts'

const missing = () => new Fault('not-found', 'there is no such thing, or it is not yours')

/** Renames in the database only: a host knows a VM by its id, and keeps the name that the VM was created with. */
export async function rename(tx: Tx, { vapp, vm }: Subject, name: string): Promise<void> {
  const row = vm === null ? await lockVapp(tx, vapp) : await lockVm(tx, vm)
  if (!row || row.deleted_at !== null) throw missing()
  if (row.closed) throw new Fault('conflict', `${row.name} is being deleted`)
  if (row.name === name) return
  await orConflict(`the name ${name} already exists`, () =>
    vm === null
      ? tx.updateTable('vapp').set({ name }).where('id', '=', vapp).execute()
      : tx.updateTable('vm').set({ name }).where('id', '=', vm).execute(),
  )
}
