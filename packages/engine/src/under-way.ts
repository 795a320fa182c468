import * as libvirt from '@skerry/libvirt'

import { noteOpened } from './check-disk.ts'
import { findVm, type Found } from './find-domain.ts'
import type { Host } from './host.ts'
import { readPowerOf } from './read-power.ts'
import type { Owner, UnderWay, VmRecord } from './record.ts'
import { settleSave } from './settle-save.ts'
import { settleSnapshot } from './settle-snapshot.ts'
import { saysLibvirt } from './to-fault.ts'

/** A libvirt that outlived its caller may still be at it. */
const JOB_TIMEOUT_MS = 600_000

/**
 * Does a change that happens inside libvirt and QEMU, where a crash may cut it in two. It is
 * written down before it begins, so that whoever comes after knows what to look at.
 */
export async function writtenDown<T>(
  host: Host,
  { record, dom }: Found,
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
    // When libvirt is away, this is done once it is back.
    if (host.link.isOpen) {
      await settleUnderWay(host, { record: noted, dom }).catch((again: unknown) =>
        host.note(`VM ${record.id} is not in order yet`, again),
      )
    }
    throw error
  }
}

/** The VM of this id, for whoever has its turn and is to change it: what was cut in two is whole again. */
export async function findSettled(host: Host, id: string, owner?: Owner): Promise<Found> {
  const found = await findVm(host, id, owner)
  return { ...found, record: await settleUnderWay(host, found) }
}

/** Finishes or takes back what was under way when libvirt, QEMU or we ourselves died. */
export async function settleUnderWay(host: Host, { record, dom }: Found): Promise<VmRecord> {
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

/** A guest stands still while its memory is read or written. Where a revert leads is for the snapshot to say. */
function goesOn({ change, power }: UnderWay): boolean {
  return change === 'start' || (change !== 'revert' && power === 'on')
}

async function isBusy({ link }: Host, dom: libvirt.Domain): Promise<boolean> {
  try {
    const { type } = await link.call(libvirt.domainGetJobInfo, { dom })
    return type !== libvirt.DomainJobType.none
  } catch (error) {
    // It does not run.
    if (saysLibvirt(error, libvirt.ErrorCode.operationInvalid)) return false
    throw error
  }
}
