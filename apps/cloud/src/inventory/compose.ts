import { Fault } from '@skerry/fault'
import { brokenConstraint } from '@skerry/postgres'
import type { Seal } from '@skerry/service'
import type { OrgId, Seed, VmId } from '@skerry/vm'

import type { Tx } from '../database/tables.ts'
import type { VappId } from '../domain/ids.ts'
import { findTemplate, type TemplateRow } from '../tenants/orgs.ts'
import { keepSeed } from './guest-seeds.ts'
import { connectNew, type NamedNic } from './nics.ts'

interface ComposedVm {
  readonly template: string
  readonly name?: string
  /** Data for the guest's first boot (cloud-init). */
  readonly guest?: Seed
  /** Its cards. Default: one on the default network of the vdc, if there is one. */
  readonly nics?: readonly NamedNic[]
}

/** Inserts rows for VMs of a vApp, each from a template of the same organisation; a task creates the VMs later. */
export async function addVmsOf(
  tx: Tx,
  { org, vdc, vapp }: { readonly org: OrgId; readonly vdc: string; readonly vapp: VappId },
  wanted: readonly ComposedVm[],
  seal: Pick<Seal, 'close'>,
): Promise<readonly VmId[]> {
  const made: { readonly vm: VmId; readonly nics?: readonly NamedNic[] }[] = []
  const taken = new Set(await namesIn(tx, vapp))
  for (const { template: id, name, guest, nics } of wanted) {
    const template = await findTemplate(tx, id)
    if (!template || template.org !== org) {
      throw new Fault('invalid', 'template not found in this organisation')
    }
    const called = name ?? freeName(template.name, taken)
    taken.add(called)
    const vm = await addVm(tx, { org, vapp, name: called, template })
    if (guest) await keepSeed(tx, { org, id: vm, name: called }, guest, seal)
    made.push({ vm, ...(nics && { nics }) })
  }
  await connectNew(tx, { org, id: vdc }, made)
  return made.map(({ vm }) => vm)
}

async function namesIn(tx: Tx, vapp: VappId): Promise<readonly string[]> {
  const rows = await tx
    .selectFrom('vm')
    .select('name')
    .where('vapp', '=', vapp)
    .where('deleted_at', 'is', null)
    .execute()
  return rows.map(({ name }) => name)
}

/** 'debian', 'debian-2', 'debian-3' */
function freeName(name: string, taken: ReadonlySet<string>): string {
  for (let count = 1; ; count += 1) {
    const called = count === 1 ? name : `${name}-${count}`
    if (!taken.has(called)) return called
  }
}

interface NewVm {
  readonly org: OrgId
  readonly vapp: VappId
  readonly name: string
  readonly template: TemplateRow
}

async function addVm(tx: Tx, { org, vapp, name, template }: NewVm): Promise<VmId> {
  const { image, cpus, memory_mib, disk_mib } = template
  try {
    const { id } = await tx
      .insertInto('vm')
      .values({ org, vapp, name, image, cpus, memory_mib, disk_mib })
      .returning('id')
      .executeTakeFirstOrThrow()
    return id
  } catch (error) {
    if (brokenConstraint(error) === undefined) throw error
    throw new Fault('conflict', `the vApp already has a VM ${name}`, {
      cause: error,
      hint: 'give each VM a different name',
    })
  }
}
