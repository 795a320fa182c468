import { Fault } from '@skerry/fault'
import type { VmId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import type { Database } from './database.ts'
import { requireQuota } from './quotas.ts'
import { lockClaimed, type VmRow } from './vms.ts'

/** What a VM takes of its host. */
export interface Sizes {
  readonly cpus: number
  readonly memoryMiB: number
  readonly diskMiB: number
}

export const sizesOf = ({ cpus, memory_mib, disk_mib }: VmRow): Sizes => ({
  ...{ cpus, memoryMiB: memory_mib, diskMiB: disk_mib },
})

/** As they were when a change of them began; as they are while none is under way. */
export const sizesBefore = (vm: VmRow): Sizes => vm.sizes_before ?? sizesOf(vm)

export const columnsOf = ({ cpus, memoryMiB, diskMiB }: Sizes) => ({
  ...{ cpus, memory_mib: memoryMiB, disk_mib: diskMiB },
})

interface Held {
  readonly vm: VmId
  readonly number: string
}

/**
 * Writes down what it was, and takes what is the larger of both: until the change is over it may be either. Its host must
 * have the room and its organisation the quota, or nothing is written.
 */
export async function reserveSizes(
  db: Kysely<Database>,
  { vm: id, number }: Held,
  wanted: Partial<Sizes>,
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const vm = await lockClaimed(tx, id, number)
    if (vm.sizes_before !== null) return
    const now = sizesOf(vm)
    const larger = (name: keyof Sizes) => Math.max(now[name], wanted[name] ?? 0)
    await tx
      .updateTable('vm')
      .set({
        ...columnsOf({
          ...{ cpus: larger('cpus'), memoryMiB: larger('memoryMiB'), diskMiB: larger('diskMiB') },
        }),
        sizes_before: JSON.stringify(now),
      })
      .where('id', '=', id)
      .execute()
    // The trigger that counts what is placed has counted this by now.
    const { rows } = await sql<{ fits: boolean }>`
      select memory_mib >= local_memory_mib + placed_memory_mib and disk_mib >= placed_disk_mib as fits
      from host where id = ${vm.host}`.execute(tx)
    if (rows[0]?.fits === false) {
      throw new Fault('no-room', `the host of VM ${vm.name} has no room for it to grow so far`, {
        hint: 'ask for less, or let the administrator make room there',
      })
    }
    await requireQuota(tx, vm.org, 'make')
  })
}
