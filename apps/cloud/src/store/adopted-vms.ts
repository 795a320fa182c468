import { Fault } from '@skerry/fault'
import type { Deed } from '@skerry/host-api'
import { brokenConstraint } from '@skerry/postgres'
import type { HostId, OrgId, VmId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import { isUuid, type VappId } from '../ids.ts'
import type { Tx } from '../world.ts'
import { orgNamed } from './accounts.ts'
import type { Database } from './database.ts'
import { tell } from './events.ts'
import { vdcsOf } from './orgs.ts'
import { lockVm, type VmRow } from './vms.ts'

/** What an administrator may say instead of what the deed says. */
export interface Wishes {
  readonly org?: string
  readonly vapp?: string
  readonly name?: string
}

interface Place {
  readonly vm: VmId
  readonly host: HostId
  readonly incarnation: string
  readonly deed?: Deed
}

/** The row of a VM that a host has, made or put right, under a new number; and the deed that its host is to keep. */
export async function giveRow(
  db: Kysely<Database>,
  place: Place,
  wishes: Wishes,
): Promise<{ readonly number: string; readonly deed: Deed }> {
  try {
    return await db.transaction().execute(async (tx) => {
      const { recovering } = await tx
        .selectFrom('cloud')
        .select('recovering')
        .executeTakeFirstOrThrow()
      if (recovering) {
        throw new Fault('conflict', 'the cloud is still finding out what there is', {
          hint: 'skerry cloud recover --status',
        })
      }
      const known = await lockVm(tx, place.vm)
      if (known) requireFree(known, place)
      else await addRow(tx, place, wishes)
      const row = await take(tx, place)
      await tx.deleteFrom('stray').where('vm', '=', place.vm).execute()
      await tell(tx, { kind: 'vm.adopted', vm: row, host: place.host })
      return { number: row.number, deed: deedOf(row) }
    })
  } catch (error) {
    if (brokenConstraint(error) === undefined) throw error
    throw new Fault('conflict', 'there is a VM or a vApp of that name already', {
      cause: error,
      hint: 'choose another by --name or --vapp',
    })
  }
}

const deedOf = (row: VmRow): Deed => ({
  ...{ org: row.org, vApp: row.vapp, name: row.name, image: row.image },
  ...{ cpus: row.cpus, memoryMiB: row.memory_mib, diskMiB: row.disk_mib },
})

/** A row may follow its VM to another host only where nobody has it: a host cannot take a VM from another by saying so. */
function requireFree(row: VmRow, { host, vm }: Place): void {
  if (row.deleted_at !== null) {
    throw new Fault('conflict', `VM ${vm} was deleted; what host ${host} has of it is a remnant`, {
      hint: 'whoever needs its disk copies it on that host',
    })
  }
  if (row.fate === 'LOST') throw new Fault('conflict', `VM ${vm} is lost with its host`)
  if (row.host === host || row.host === null || row.fate === 'MISSING') return
  throw new Fault('conflict', `VM ${vm} is placed on host ${row.host}, which has not lost it`)
}

async function take(tx: Tx, { vm, host, incarnation }: Place): Promise<VmRow> {
  return tx
    .updateTable('vm')
    .set({
      ...{ host, incarnation, fate: null, unsure: true, sent_on: true, missing: 0 },
      // Until its host has said what it is.
      unseen: true,
      // Whoever holds it holds it no longer.
      ...{ number: sql`next_number()`, holder: null, lease_until: null },
      ...{ seen_session: '0', seen_seq: 0 },
      status: sql`case when status in ('UNRESOLVED', 'FAILED_CREATION') then 'POWERED_OFF' else status end`,
    })
    .where('id', '=', vm)
    .returningAll()
    .executeTakeFirstOrThrow()
}

async function addRow(tx: Tx, { vm: id, deed }: Place, wishes: Wishes): Promise<void> {
  if (!deed) {
    throw new Fault('conflict', `nothing says what VM ${id} was made as: its record is lost too`, {
      hint: 'put the record file back from a backup of the host, then adopt it',
    })
  }
  const org = await orgOf(tx, deed, wishes)
  const vapp = await vappOf(tx, org, deed, wishes)
  const { image, cpus, memoryMiB, diskMiB } = deed
  // The bytes may not be in the store; the VM has its own link to them.
  await tx
    .insertInto('image')
    .values({ digest: image, bytes: '0', virtual_mib: diskMiB })
    .onConflict((conflict) => conflict.column('digest').doNothing())
    .execute()
  await tx
    .insertInto('vm')
    .values({
      ...{ org, id, vapp, name: wishes.name ?? deed.name, image },
      ...{ cpus, memory_mib: memoryMiB, disk_mib: diskMiB },
    })
    .execute()
}

async function orgOf(tx: Tx, deed: Deed, { org }: Wishes): Promise<OrgId> {
  if (org !== undefined) return orgNamed(tx, org)
  const known = isUuid(deed.org)
    ? await tx
        .selectFrom('org')
        .select('id')
        .where('id', '=', deed.org as OrgId)
        .executeTakeFirst()
    : undefined
  if (known) return known.id
  throw new Fault('conflict', `it belonged to an organisation that is no more: ${deed.org}`, {
    hint: 'say whose it is from now on: --org NAME',
  })
}

/** The vApp that it was in, one of the given name, or one that is made for it. */
async function vappOf(tx: Tx, org: OrgId, deed: Deed, { vapp: name }: Wishes): Promise<VappId> {
  const alive = tx.selectFrom('vapp').select('id').where('org', '=', org)
  const open = alive.where('deleted_at', 'is', null).where('closed', '=', false)
  const known =
    name !== undefined
      ? await open.where('name', '=', name).executeTakeFirst()
      : isUuid(deed.vApp)
        ? await open.where('id', '=', deed.vApp as VappId).executeTakeFirst()
        : undefined
  if (known) return known.id
  const [vdc] = await vdcsOf(tx, org)
  if (!vdc) throw new Fault('conflict', 'this organisation has no place for VMs')
  const taken = await tx
    .selectFrom('vapp')
    .select('id')
    .where('id', '=', deed.vApp as VappId)
    .executeTakeFirst()
  const made = await tx
    .insertInto('vapp')
    .values({
      ...(!taken && isUuid(deed.vApp) && { id: deed.vApp as VappId }),
      ...{ org, vdc: vdc.id, owner: 'system' },
      name: name ?? `adopted-${deed.vApp.slice(-12)}`,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return made.id
}
