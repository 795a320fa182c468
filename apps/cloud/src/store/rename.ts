import { Fault } from '@skerry/fault'

import type { Tx } from '../world.ts'
import { orConflict } from './accounts.ts'
import type { Subject } from './done-task.ts'
import { lockVapp } from './vapps.ts'
import { lockVm } from './vms.ts'

const missing = () => new Fault('not-found', 'there is no such thing, or it is not yours')

/** Another name, here: on its host a VM is known by its id, and keeps what it was called when it was made. */
export async function rename(tx: Tx, { vapp, vm }: Subject, name: string): Promise<void> {
  const row = vm === null ? await lockVapp(tx, vapp) : await lockVm(tx, vm)
  if (!row || row.deleted_at !== null) throw missing()
  if (row.closed) throw new Fault('conflict', `${row.name} is being deleted`)
  if (row.name === name) return
  await orConflict(`there is already one called ${name}`, () =>
    vm === null
      ? tx.updateTable('vapp').set({ name }).where('id', '=', vapp).execute()
      : tx.updateTable('vm').set({ name }).where('id', '=', vm).execute(),
  )
}
