import { Fault } from '@skerry/fault'
import { VmSpec, type HostApi, type HostRecord } from '@skerry/host-api'
import { Compile } from '@skerry/schema'
import type { HostId, TaskId, VmId } from '@skerry/vm'
import type { Kysely } from 'kysely'

import type { CloudTables } from '../database/tables.ts'
import { findVm, recordSeen } from '../inventory/vms.ts'
import { giveRow, type AdoptOverrides } from '../recovery/adopted-vms.ts'
import { listOrphans } from '../recovery/orphans.ts'
import { adoptAsIs } from './host-states.ts'
import { findHost, type HostRow } from './hosts.ts'

const specs = Compile(VmSpec)

export interface AdoptContext {
  readonly db: Kysely<CloudTables>
  readonly connect: (host: HostRow) => HostApi
}

/**
 * Adopts a VM that a host has into the cloud, for an administrator: an orphan (without a row) from its VM spec, or a VM whose
 * orders its host has lost from its row. The host starts from scratch with this order and its fencing token. Safe to repeat
 * after a failure.
 */
export async function adoptVm(
  { db, connect }: AdoptContext,
  { vm, host: wanted, ...wishes }: AdoptOverrides & { readonly vm: VmId; readonly host?: HostId },
): Promise<{ readonly vm: VmId; readonly host: HostId; readonly vapp: string }> {
  const host = await hostOf(db, vm, wanted)
  const api = connect(host)
  const record = (await recordsOf(api)).find((each) => each.vm === vm && each.exists)
  if (!record) {
    throw new Fault('not-found', `host ${host.name} does not have VM ${vm}`, {
      hint: 'skerry admin orphan list',
    })
  }
  const { incarnation } = record
  const spec = specs.Check(record.spec) ? record.spec : undefined
  const place = { vm, host: host.id, incarnation, ...(spec && { spec }) }
  const given = await giveRow(db, place, wishes)
  const task = `adopt-${given.fencingToken}` as TaskId
  const order = { vm, task, key: `${task}:adopted`, fencingToken: given.fencingToken, incarnation }
  const { session, seq, vm: seen } = await api.step(order, { goal: 'adopted', spec: given.spec })
  if (seen) await recordSeen(db, host.id, [{ id: vm, session, seq, vm: seen }])
  return { vm, host: host.id, vapp: given.spec.vApp }
}

/** The given host; otherwise the host in the VM's row, unless the VM is missing there; otherwise the only host that reported it. */
async function hostOf(
  db: Kysely<CloudTables>,
  vm: VmId,
  wanted: HostId | undefined,
): Promise<HostRow> {
  const row = await findVm(db, vm)
  const placed = row?.lost_reason === null ? row.host : null
  const found = (await listOrphans(db)).filter((each) => each.vm === vm)
  const id = wanted ?? placed ?? (found.length === 1 ? found[0]?.host : undefined)
  const host = id === undefined || id === null ? undefined : await findHost(db, id)
  if (host) return host
  throw new Fault(
    'not-found',
    found.length > 1 ? `several hosts have VM ${vm}` : `no known host has VM ${vm}`,
    {
      hint: 'skerry admin orphan list lists the VMs that were found; choose a host with --host ID',
    },
  )
}

/** Accepts a quarantined host that lost its fencing tokens, after an administrator checked it. VMs that it no longer has become MISSING. */
export async function adoptHost({ db, connect }: AdoptContext, id: HostId): Promise<number> {
  const host = await findHost(db, id)
  if (!host) {
    throw new Fault('not-found', `host ${id} not found`, { hint: 'skerry admin host list' })
  }
  if (host.quarantine === null) {
    throw new Fault('conflict', `host ${host.name} is not in quarantine`, {
      hint: 'to adopt a single orphan VM: skerry admin vm adopt VM',
    })
  }
  return adoptAsIs(db, id, await recordsOf(connect(host)))
}

async function recordsOf(api: HostApi): Promise<readonly HostRecord[]> {
  return Array.fromAsync(api.records())
}
