import * as libvirt from '@skerry/libvirt'

import { noteOpened } from '../disk/check-disk.ts'
import { findRecord, findVm, type FoundVm } from '../domain/find-domain.ts'
import { isBusy } from '../domain/is-busy.ts'
import { readPowerOf } from '../domain/read-power.ts'
import { requireHere } from '../domain/require-here.ts'
import type { Host } from '../host/host.ts'
import type { Owner } from '../host/owner.ts'
import type { UnderWay, VmRecord } from '../host/record.ts'
import { settleDeparture } from './settle-departure.ts'
import { settleSave } from './settle-save.ts'
import { settleSnapshot } from './settle-snapshot.ts'

/** A libvirt that outlived its caller may still be working. */
const JOB_TIMEOUT_MS = 600_000

/**
 * Makes a change inside libvirt and QEMU that a crash may interrupt. It is recorded before it
 * begins, so that the repair after a crash knows what to check.
 */
export async function withIntentRecorded<T>(
  host: Host,
  { record, dom }: FoundVm,
  underWay: UnderWay,
  work: () => Promise<T>,
): Promise<T> {
  const { records } = host
  const keep = (changed: VmRecord) =>
    underWay.change === 'start' ? records.remember(changed) : records.write(changed)
  await noteOpened(host, record)
  const noted = await keep({ ...record, underWay })
  try {
    const result = await work()
    await keep({ ...noted, underWay: undefined })
    return result
  } catch (error) {
    // If libvirt is disconnected, this is done once it is back.
    if (host.link.isOpen) {
      await settleUnderWay(host, { record: noted, dom }).catch((again: unknown) =>
        host.log(`failed to repair VM ${record.id}, retrying later`, again),
      )
    }
    throw error
  }
}

/** The VM with this id, for a holder of its lock that will change it: an interrupted change is settled first. */
export async function findSettled(host: Host, id: string, owner?: Owner): Promise<FoundVm> {
  const departing = host.moves.departureOf(findRecord(host, id, owner))
  // A migration holds the VM's lock, so this move was interrupted.
  if (departing) await settleDeparture(host, departing, 'silent')
  const found = await findVm(host, id, owner)
  requireHere(host, found.record)
  return { ...found, record: await settleUnderWay(host, found) }
}

/** Finishes or undoes the change that was under way when libvirt, QEMU or this process died. */
export async function settleUnderWay(host: Host, { record, dom }: FoundVm): Promise<VmRecord> {
  const { underWay } = record
  if (!underWay) return record
  await host.changes.until(dom.name, JOB_TIMEOUT_MS, async () =>
    (await isBusy(host, dom)) ? undefined : true,
  )
  const { power } = await readPowerOf(host, dom)
  if (power === 'paused' && goesOn(underWay)) await host.link.call(libvirt.domainResume, { dom })
  if ('snapshot' in underWay) await settleSnapshot(host, { record, dom }, power, underWay.snapshot)
  else await settleSave(host, dom, power)
  return host.records.write({ ...record, underWay: undefined })
}

/** A guest is paused while its memory is read or written. After a revert, the snapshot decides its state. */
function goesOn({ change, power }: UnderWay): boolean {
  return change === 'start' || (change !== 'revert' && power === 'on')
}
