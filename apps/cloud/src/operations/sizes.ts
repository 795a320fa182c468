import { Fault } from '@skerry/fault'
import type { VmId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import type { Sizes, CloudTables } from '../database/tables.ts'
import { lockClaimed, type VmRow } from '../inventory/vms.ts'
import { requireQuota } from '../tenants/quotas.ts'

const sizeNames = ['cpus', 'memoryMiB', 'diskMiB'] as const satisfies readonly (keyof Sizes)[]

export const sizesOf = ({ cpus, memory_mib, disk_mib }: VmRow): Sizes => ({
  cpus,
  memoryMiB: memory_mib,
  diskMiB: disk_mib,
})

/** The sizes before the change in progress; the current sizes if there is none. */
export const sizesBefore = (vm: VmRow): Sizes => vm.sizes_before ?? sizesOf(vm)

export const columnsOf = ({ cpus, memoryMiB, diskMiB }: Sizes) => ({
  cpus,
  memory_mib: memoryMiB,
  disk_mib: diskMiB,
})

interface ClaimedVm {
  readonly vm: VmId
  readonly fencingToken: string
}

/**
 * Stores the old sizes and reserves the larger of both, because during the change either may be true. The host must
 * have the capacity and the organisation the quota; otherwise nothing is written.
 */
export async function reserveSizes(
  db: Kysely<CloudTables>,
  { vm: id, fencingToken }: ClaimedVm,
  wanted: Partial<Sizes>,
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const vm = await lockClaimed(tx, id, fencingToken)
    if (vm.sizes_before !== null) return
    const now = sizesOf(vm)
    const larger = (name: keyof Sizes) => Math.max(now[name], wanted[name] ?? 0)
    await tx
      .updateTable('vm')
      .set({
        ...columnsOf({
          cpus: larger('cpus'),
          memoryMiB: larger('memoryMiB'),
          diskMiB: larger('diskMiB'),
        }),
        sizes_before: JSON.stringify(now),
      })
      .where('id', '=', id)
      .execute()
    const grows = (name: keyof Sizes) => larger(name) > now[name]
    // The trigger that counts placements has already counted this.
    const { rows } = await sql<{ fits: boolean }>`
      select (not ${grows('memoryMiB')} or memory_mib >= local_memory_mib + placed_memory_mib)
        and (not ${grows('diskMiB')} or disk_mib >= placed_disk_mib) as fits
      from host where id = ${vm.host}`.execute(tx)
    if (rows[0]?.fits === false) {
      throw new Fault(
        'no-room',
        `the host of VM ${vm.name} does not have the capacity for the new size`,
        {
          hint: 'request less, or ask the administrator to free capacity there',
        },
      )
    }
    if (sizeNames.some(grows)) await requireQuota(tx, vm.org, 'make')
  })
}
