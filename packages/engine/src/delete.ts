import { rm } from 'node:fs/promises'

import { Fault } from '@skerry/fault'
import * as libvirt from '@skerry/libvirt'
import type { PowerState } from '@skerry/vm'

import { domainName } from './definition.ts'
import { asVmId, findRecord, lookUp } from './find-domain.ts'
import { freeAddress } from './fixed-address.ts'
import type { Host } from './host.ts'
import { dropUnusedNetworks } from './org-network.ts'
import { recordsDirectory, vmDirectory } from './paths.ts'
import { readPowerOf } from './read-power.ts'
import { syncDirectory, type Owner, type VmRecord } from './record.ts'
import { closeShare } from './share.ts'
import { saysLibvirt } from './to-fault.ts'

const { managedSave, snapshotsMetadata, checkpointsMetadata, nvram } = libvirt.DomainUndefineFlags

export interface DeleteOptions {
  readonly owner?: Owner
  /** The states it may be deleted from; any where none are named. */
  readonly from?: readonly PowerState[]
}

/** Deletes a VM with its disk and all that was kept of it. */
export function deleteVm(host: Host, id: string, options: DeleteOptions = {}): Promise<void> {
  return host.turns.take(id, async () => {
    const record = findRecord(host, id, options.owner)
    if (options.from) await requirePower(host, record, options.from)
    // From here on it goes, whatever dies: a record that says 'leaving' is finished at the next start.
    await discard(host, await host.records.write({ ...record, phase: 'leaving' }))
  })
}

/** Makes a VM be no more, whole or half; where there is none, it is so already. */
export function removeVm(host: Host, id: string, owner: Owner): Promise<void> {
  return host.turns.take(id, async () => {
    const record = host.records.get(id, owner)
    if (record) return discard(host, await host.records.write({ ...record, phase: 'leaving' }))
    const name = domainName({ id: asVmId(id), owner })
    if (!(await lookUp(host, name))) return
    throw new Fault('wrong-state', `libvirt has a domain ${name} that nothing here knows of`, {
      detail: 'quarantined',
      hint: 'look at it with libvirt’s own tools, then adopt or remove it',
    })
  })
}

async function requirePower(
  host: Host,
  record: VmRecord,
  from: readonly PowerState[],
): Promise<void> {
  const dom = await lookUp(host, domainName(record))
  // What libvirt no longer knows does not run.
  if (!dom) return
  const { power } = await readPowerOf(host, dom)
  if (from.includes(power)) return
  throw new Fault(
    'conflict',
    `VM ${record.id} is ${power}; deleting it needs it to be ${from.join(' or ')}`,
    {
      hint: `power VM ${record.id} off first`,
      state: power,
    },
  )
}

/** Takes away everything there may be of a VM; what is already gone is no mistake. */
export async function discard(host: Host, record: VmRecord): Promise<void> {
  const dom = await lookUp(host, domainName(record))
  if (dom) await undefine(host, dom)
  await closeShare(host, record)
  await freeAddress(host, record)
  await rm(vmDirectory(host.paths, record), { recursive: true, force: true })
  await syncDirectory(recordsDirectory(host.paths, record.owner))
  await host.records.remove(record)
  if (record.network !== undefined) await dropUnusedNetworks(host)
}

async function undefine({ link }: Host, dom: libvirt.Domain): Promise<void> {
  const ignoring = async (work: Promise<void>, ...codes: readonly number[]): Promise<void> => {
    try {
      await work
    } catch (error) {
      if (!saysLibvirt(error, ...codes)) throw error
    }
  }
  const { noDomain, operationInvalid } = libvirt.ErrorCode
  await ignoring(
    link.call(libvirt.domainDestroyFlags, { dom, flags: 0 }),
    operationInvalid,
    noDomain,
  )
  const undefine = (flags: number) => link.call(libvirt.domainUndefineFlags, { dom, flags })
  const always = managedSave | snapshotsMetadata
  // A driver that has neither checkpoints nor firmware files does not take the flags for them.
  const work = undefine(always | checkpointsMetadata | nvram).catch((error: unknown) => {
    if (saysLibvirt(error, libvirt.ErrorCode.invalidArg)) return undefine(always)
    throw error
  })
  await ignoring(work, noDomain)
}
