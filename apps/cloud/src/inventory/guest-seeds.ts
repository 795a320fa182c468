import type { Seal } from '@skerry/service'
import { hostnameOf, type OrgId, type Seed, type VmId } from '@skerry/vm'
import type { Kysely } from 'kysely'

import type { Tx, CloudTables } from '../database/tables.ts'

/** The seed as it is sent to a host. */
export type GuestSeed = Pick<Seed, 'userData'> & {
  readonly hostname: string
  readonly sshKeys?: string[]
}

/**
 * Stores the guest's seed, sealed, until the VM is created. A trigger deletes it when the task that creates the
 * VM ends.
 */
export async function keepSeed(
  tx: Tx,
  vm: { readonly org: OrgId; readonly id: VmId; readonly name: string },
  { hostname: requested, sshKeys, ...rest }: Seed,
  seal: Pick<Seal, 'close'>,
): Promise<void> {
  const hostname = requested ?? hostnameOf(vm.name)
  const seed: GuestSeed = { hostname, ...(sshKeys && { sshKeys: [...sshKeys] }), ...rest }
  const sealed = seal.close(JSON.stringify(seed), vm.id)
  await tx.insertInto('guest_seed').values({ org: vm.org, vm: vm.id, sealed }).execute()
  await tx.updateTable('vm').set({ computer_name: hostname }).where('id', '=', vm.id).execute()
}

export async function readSeed(
  db: Kysely<CloudTables>,
  vm: VmId,
  seal: Pick<Seal, 'open'>,
): Promise<GuestSeed | undefined> {
  const row = await db
    .selectFrom('guest_seed')
    .select('sealed')
    .where('vm', '=', vm)
    .executeTakeFirst()
  return row && (JSON.parse(seal.open(row.sealed, vm)) as GuestSeed)
}
