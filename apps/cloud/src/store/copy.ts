import { Fault } from '@skerry/fault'

import type { VappId } from '../ids.ts'
import type { Tx } from '../world.ts'
import type { VdcRow } from './orgs.ts'
import { addEmptyVapp, findVapp, lockVapp, vmsOf } from './vapps.ts'
import type { VmRow } from './vms.ts'

export interface Copies {
  readonly vapp: VappId
  /** Those that are copied, locked. */
  readonly sources: readonly VmRow[]
}

/** Written down, not made: a vApp of as many VMs as another of the same organisation has. */
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
    throw new Fault('invalid', 'there is no such vApp in this organisation')
  }
  if (from.closed) throw new Fault('conflict', `vApp ${from.name} is being deleted`)
  const sources = await vmsOf(tx, from.id, { locked: true })
  for (const vm of sources) requireStill(vm)
  const vapp = await addEmptyVapp(tx, { vdc, name, owner })
  const rows = sources.map((vm) => ({
    ...{ org: vdc.org, vapp, source: vm.id, name: vm.name, image: vm.image },
    ...{ cpus: vm.cpus, memory_mib: vm.memory_mib, disk_mib: vm.disk_mib },
    ...{ start_order: vm.start_order, computer_name: vm.computer_name },
  }))
  if (rows.length > 0) await tx.insertInto('vm').values(rows).execute()
  return { vapp, sources }
}

/** Judged by where its queue will have left it, as everything is. */
function requireStill({ name, closed, fate, desired }: VmRow): void {
  if (closed) throw new Fault('conflict', `VM ${name} is being deleted`)
  if (fate === null && desired === 'POWERED_OFF') return
  throw new Fault(
    'conflict',
    `VM ${name} is ${fate ?? desired}; to be copied it must be POWERED_OFF`,
    { hint: fate === null ? 'power it off first' : 'delete it, or leave it out' },
  )
}
