import { Fault } from '@skerry/fault'

import type { Tx } from '../database/tables.ts'
import type { VappId } from '../domain/ids.ts'
import type { VdcRow } from '../tenants/orgs.ts'
import { lockAll } from './network-stock.ts'
import { connectCopies, nicRows } from './nics.ts'
import { addEmptyVapp, findVapp, lockVapp, vmsOf } from './vapps.ts'
import type { VmRow } from './vms.ts'

export interface Copies {
  readonly vapp: VappId
  /** The VMs that are cloned, locked. */
  readonly sources: readonly VmRow[]
}

/** Inserts rows for a clone of a vApp of the same organisation and of its VMs; tasks create the VMs later. */
export async function addCopies(
  tx: Tx,
  {
    vdc,
    name,
    owner,
    source,
  }: {
    readonly vdc: VdcRow
    readonly name: string
    readonly owner: string
    readonly source: string
  },
): Promise<Copies> {
  const found = await findVapp(tx, source)
  const from = found?.org === vdc.org ? await lockVapp(tx, found.id) : undefined
  if (!from || from.deleted_at !== null) {
    throw new Fault('invalid', 'vApp not found in this organisation')
  }
  if (from.closed) throw new Fault('conflict', `vApp ${from.name} is being deleted`)
  // Networks are locked before VMs, as by requests that change cards.
  const unlocked = (await vmsOf(tx, from.id)).map(({ id }) => id)
  const networks = (await nicRows(tx, unlocked)).map(({ network }) => network)
  await lockAll(tx, networks)
  const sources = await vmsOf(tx, from.id, { locked: true })
  for (const vm of sources) requireStill(vm)
  const vapp = await addEmptyVapp(tx, { vdc, name, owner })
  const rows = sources.map((vm) => ({
    org: vdc.org,
    vapp,
    source: vm.id,
    name: vm.name,
    image: vm.image,
    cpus: vm.cpus,
    memory_mib: vm.memory_mib,
    disk_mib: vm.disk_mib,
    start_order: vm.start_order,
    computer_name: vm.computer_name,
  }))
  if (rows.length > 0) {
    const made = await tx.insertInto('vm').values(rows).returning(['id', 'source']).execute()
    const copies = made.flatMap(({ id: vm, source: of }) =>
      of === null ? [] : [{ vm, source: of }],
    )
    await connectCopies(tx, vdc.org, copies)
  }
  return { vapp, sources }
}

/** Checks the state that the VM will have after its queued tasks, as for every operation. */
function requireStill({ name, closed, lost_reason: lost, projected_status: status }: VmRow): void {
  if (closed) throw new Fault('conflict', `VM ${name} is being deleted`)
  if (lost === null && status === 'POWERED_OFF') return
  throw new Fault(
    'conflict',
    `VM ${name} is ${lost ?? status}; it must be POWERED_OFF to be cloned`,
    { hint: lost === null ? 'power it off first' : 'delete it, or leave it out' },
  )
}
