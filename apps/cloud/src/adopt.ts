import { Fault } from '@skerry/fault'
import { Deed, type HostApi, type HostRecord } from '@skerry/host-api'
import type { HostId, TaskId, VmId } from '@skerry/vm'
import type { Kysely } from 'kysely'
import { Compile } from 'typebox/compile'

import { giveRow, type Wishes } from './store/adopted-vms.ts'
import type { Database } from './store/database.ts'
import { adoptAsIs } from './store/host-states.ts'
import { findHost, type HostRow } from './store/hosts.ts'
import { listStrays } from './store/strays.ts'
import { findVm, recordSeen } from './store/vms.ts'

const deeds = Compile(Deed)

export interface Adopting {
  readonly db: Kysely<Database>
  readonly connect: (host: HostRow) => HostApi
}

/**
 * An administrator takes a VM that a host has into the cloud: one that no row speaks of, from its deed; or one whose orders its
 * host has lost, from its row. The host begins anew with this order and its number. May be asked for again after a failure.
 */
export async function adoptVm(
  { db, connect }: Adopting,
  { vm, host: wanted, ...wishes }: Wishes & { readonly vm: VmId; readonly host?: HostId },
): Promise<{ readonly vm: VmId; readonly host: HostId; readonly vapp: string }> {
  const host = await hostOf(db, vm, wanted)
  const api = connect(host)
  const record = (await recordsOf(api)).find((each) => each.vm === vm && each.there)
  if (!record) {
    throw new Fault('not-found', `host ${host.name} does not have VM ${vm}`, {
      hint: 'skerry cloud vm strays',
    })
  }
  const { incarnation } = record
  const deed = deeds.Check(record.deed) ? record.deed : undefined
  const place = { vm, host: host.id, incarnation, ...(deed && { deed }) }
  const given = await giveRow(db, place, wishes)
  const task = `adopt-${given.number}` as TaskId
  const order = { vm, task, key: `${task}:adopted`, number: given.number, incarnation }
  const { session, seq, vm: seen } = await api.step(order, { be: 'adopted', deed: given.deed })
  if (seen) await recordSeen(db, host.id, [{ id: vm, session, seq, vm: seen }])
  return { vm, host: host.id, vapp: given.deed.vApp }
}

/** Where it is said to be; otherwise where its row has it, unless it is missing there; otherwise where it was found. */
async function hostOf(
  db: Kysely<Database>,
  vm: VmId,
  wanted: HostId | undefined,
): Promise<HostRow> {
  const row = await findVm(db, vm)
  const placed = row?.fate === null ? row.host : null
  const found = (await listStrays(db)).filter((each) => each.vm === vm)
  const id = wanted ?? placed ?? (found.length === 1 ? found[0]?.host : undefined)
  const host = id === undefined || id === null ? undefined : await findHost(db, id)
  if (host) return host
  throw new Fault(
    'not-found',
    found.length > 1 ? `several hosts have VM ${vm}` : `nobody knows of a host that has VM ${vm}`,
    { hint: 'skerry cloud vm strays names what was found; say which by --host ID' },
  )
}

/** A host that has forgotten numbers is taken as it is: a person has looked. What it does not have any more is MISSING. */
export async function adoptHost({ db, connect }: Adopting, id: HostId): Promise<number> {
  const host = await findHost(db, id)
  if (!host) {
    throw new Fault('not-found', `there is no host ${id}`, { hint: 'skerry cloud host list' })
  }
  if (host.quarantine === null) {
    throw new Fault('conflict', `host ${host.name} is not in quarantine`, {
      hint: 'a VM that no row speaks of is adopted by: skerry cloud vm adopt VM',
    })
  }
  return adoptAsIs(db, id, await recordsOf(connect(host)))
}

async function recordsOf(api: HostApi): Promise<readonly HostRecord[]> {
  return Array.fromAsync(api.records())
}
