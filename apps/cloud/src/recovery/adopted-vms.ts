import { Fault } from '@skerry/fault'
import type { VmSpec } from '@skerry/host-api'
import { brokenConstraint } from '@skerry/postgres'
import { isUuid, type HostId, type OrgId, type VmId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import { emitEvent } from '../database/events.ts'
import type { Tx, CloudTables } from '../database/tables.ts'
import type { VappId } from '../domain/ids.ts'
import { specNics } from '../inventory/nics.ts'
import { restoreNics } from '../inventory/restore-nics.ts'
import { lockVm, type VmRow } from '../inventory/vms.ts'
import { orgNamed } from '../tenants/accounts.ts'
import { vdcsOf } from '../tenants/orgs.ts'

/** Values from the administrator that override the VM spec. */
export interface AdoptOverrides {
  readonly org?: string
  readonly vapp?: string
  readonly name?: string
}

interface Place {
  readonly vm: VmId
  readonly host: HostId
  readonly incarnation: string
  readonly spec?: VmSpec
}

/** Creates or corrects the row of a VM that a host has, under a new fencing token. Returns the token and the VM spec for the host. */
export async function giveRow(
  db: Kysely<CloudTables>,
  place: Place,
  wishes: AdoptOverrides,
): Promise<{ readonly fencingToken: string; readonly spec: VmSpec }> {
  try {
    return await db.transaction().execute(async (tx) => {
      const { recovering } = await tx
        .selectFrom('cloud')
        .select('recovering')
        .executeTakeFirstOrThrow()
      if (recovering) {
        throw new Fault('conflict', 'the cloud is still recovering', {
          hint: 'skerry admin recovery info',
        })
      }
      const known = await lockVm(tx, place.vm)
      if (known) requireFree(known, place)
      else await addRow(tx, place, wishes)
      const row = await takeOver(tx, place)
      await tx.deleteFrom('orphan').where('vm', '=', place.vm).execute()
      await emitEvent(tx, { kind: 'vm.adopted', vm: row, host: place.host })
      return { fencingToken: row.fence, spec: await specOf(tx, row) }
    })
  } catch (error) {
    if (brokenConstraint(error) === undefined) throw error
    throw new Fault('conflict', 'a VM or vApp with this name already exists', {
      cause: error,
      hint: 'choose another name with --name or --vapp',
    })
  }
}

async function specOf(tx: Tx, row: VmRow): Promise<VmSpec> {
  const nics = await specNics(tx, row)
  return {
    org: row.org,
    vApp: row.vapp,
    name: row.name,
    image: row.image,
    cpus: row.cpus,
    memoryMiB: row.memory_mib,
    diskMiB: row.disk_mib,
    ...(nics && { nics: [...nics] }),
  }
}

/** A row may move to another host only if no host has its VM: a host cannot take over a VM by claiming to have it. */
function requireFree(row: VmRow, { host, vm }: Place): void {
  if (row.deleted_at !== null) {
    throw new Fault('conflict', `VM ${vm} was deleted; host ${host} has only a remnant of it`, {
      hint: 'to keep its disk, copy it on that host',
    })
  }
  if (row.lost_reason === 'LOST') throw new Fault('conflict', `VM ${vm} was lost with its host`)
  if (row.host === host || row.host === null || row.lost_reason === 'MISSING') return
  throw new Fault('conflict', `VM ${vm} is placed on host ${row.host}, which has not lost it`)
}

async function takeOver(tx: Tx, { vm, host, incarnation }: Place): Promise<VmRow> {
  return tx
    .updateTable('vm')
    .set({
      host,
      incarnation,
      lost_reason: null,
      desired_power_unknown: true,
      ever_started: true,
      missing: 0,
      // Until its host has reported its state.
      host_silent: true,
      // Invalidates the claim of any worker.
      fence: sql`next_fence()`,
      holder: null,
      lease_until: null,
      seen_session: '0',
      seen_seq: 0,
      status: sql`case when status in ('UNRESOLVED', 'FAILED_CREATION') then 'POWERED_OFF' else status end`,
    })
    .where('id', '=', vm)
    .returningAll()
    .executeTakeFirstOrThrow()
}

async function addRow(tx: Tx, { vm: id, spec }: Place, wishes: AdoptOverrides): Promise<void> {
  if (!spec) {
    throw new Fault(
      'conflict',
      `the VM spec of VM ${id} is lost: neither its host nor the database has it`,
      {
        hint: 'restore the record file from a backup of the host, then adopt the VM',
      },
    )
  }
  const org = await orgOf(tx, spec, wishes)
  const vapp = await vappOf(tx, org, spec, wishes)
  const { image, cpus, memoryMiB, diskMiB } = spec
  // The image may be missing from the store; the VM has its own copy on the host.
  await tx
    .insertInto('image')
    .values({ digest: image, bytes: '0', virtual_mib: diskMiB })
    .onConflict((conflict) => conflict.column('digest').doNothing())
    .execute()
  await tx
    .insertInto('vm')
    .values({
      org,
      id,
      vapp,
      name: wishes.name ?? spec.name,
      image,
      cpus,
      memory_mib: memoryMiB,
      disk_mib: diskMiB,
    })
    .execute()
  if (spec.nics) await restoreNics(tx, { org, id }, spec.nics)
}

async function orgOf(tx: Tx, spec: VmSpec, { org }: AdoptOverrides): Promise<OrgId> {
  if (org !== undefined) return orgNamed(tx, org)
  const known = isUuid(spec.org)
    ? await tx
        .selectFrom('org')
        .select('id')
        .where('id', '=', spec.org as OrgId)
        .executeTakeFirst()
    : undefined
  if (known) return known.id
  throw new Fault('conflict', `its organisation no longer exists: ${spec.org}`, {
    hint: 'choose another organisation: --org NAME',
  })
}

/** The vApp that it was in, the vApp with the given name, or a new one. */
async function vappOf(
  tx: Tx,
  org: OrgId,
  spec: VmSpec,
  { vapp: name }: AdoptOverrides,
): Promise<VappId> {
  const alive = tx.selectFrom('vapp').select('id').where('org', '=', org)
  const open = alive.where('deleted_at', 'is', null).where('closed', '=', false)
  const known =
    name !== undefined
      ? await open.where('name', '=', name).executeTakeFirst()
      : isUuid(spec.vApp)
        ? await open.where('id', '=', spec.vApp as VappId).executeTakeFirst()
        : undefined
  if (known) return known.id
  const [vdc] = await vdcsOf(tx, org)
  if (!vdc) throw new Fault('conflict', 'this organisation has no vDC')
  const taken = await tx
    .selectFrom('vapp')
    .select('id')
    .where('id', '=', spec.vApp as VappId)
    .executeTakeFirst()
  const made = await tx
    .insertInto('vapp')
    .values({
      ...(!taken && isUuid(spec.vApp) && { id: spec.vApp as VappId }),
      org,
      vdc: vdc.id,
      owner: 'system',
      name: name ?? `adopted-${spec.vApp.slice(-12)}`,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return made.id
}
