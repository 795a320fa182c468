import { rm } from 'node:fs/promises'

import { syncDirectory } from '@skerry/durable-file'
import { Fault } from '@skerry/fault'
import * as libvirt from '@skerry/libvirt'
import type { PowerState } from '@skerry/vm'

import { asVmId, findRecord, lookUp } from '../domain/find-domain.ts'
import { readPowerOf } from '../domain/read-power.ts'
import { requireHere } from '../domain/require-here.ts'
import { domainName } from '../host/definition.ts'
import type { Host } from '../host/host.ts'
import type { Owner } from '../host/owner.ts'
import { recordsDirectory, vmDirectory } from '../host/paths.ts'
import type { VmRecord } from '../host/record.ts'
import { saysLibvirt } from '../host/to-fault.ts'
import { freeAddress } from '../network/fixed-address.ts'
import { dropUnusedNetworks } from '../network/org-network.ts'
import { closeShare } from '../share/share.ts'
import { removePid } from './clear-unstarted.ts'

const { managedSave, snapshotsMetadata, checkpointsMetadata, nvram } = libvirt.DomainUndefineFlags

export interface DeleteOptions {
  readonly owner?: Owner
  /** The power states it may be deleted from; any if omitted. */
  readonly from?: readonly PowerState[]
}

/** Deletes a VM with its disk and all its files. */
export function deleteVm(host: Host, id: string, options: DeleteOptions = {}): Promise<void> {
  return host.locks.run(id, async () => {
    const record = findRecord(host, id, options.owner)
    requireHere(host, record)
    if (options.from) await requirePower(host, record, options.from)
    // From here on the deletion survives any crash: a record in phase 'leaving' is finished at the next start.
    await discard(host, await host.records.write({ ...record, phase: 'leaving' }))
  })
}

/** Removes a VM, complete or incomplete; does nothing if there is none. */
export function removeVm(host: Host, id: string, owner: Owner): Promise<void> {
  return host.locks.run(id, async () => {
    const record = host.records.get(id, owner)
    if (record) {
      requireHere(host, record)
      return discard(host, await host.records.write({ ...record, phase: 'leaving' }))
    }
    const name = domainName({ id: asVmId(id), owner })
    if (!(await lookUp(host, name))) return
    throw new Fault('wrong-state', `libvirt has a domain ${name} without a record on this host`, {
      detail: 'quarantined',
      hint: 'inspect it with virsh, then adopt or remove it',
    })
  })
}

async function requirePower(
  host: Host,
  record: VmRecord,
  from: readonly PowerState[],
): Promise<void> {
  const dom = await lookUp(host, domainName(record))
  // A domain that libvirt does not know does not run.
  if (!dom) return
  const { power } = await readPowerOf(host, dom)
  if (from.includes(power)) return
  throw new Fault(
    'conflict',
    `VM ${record.id} is ${power}; it can be deleted only when ${from.join(' or ')}`,
    {
      hint: `power VM ${record.id} off first`,
      state: power,
    },
  )
}

/** Removes everything that exists of a VM; parts that are already gone are not an error. */
export async function discard(host: Host, record: VmRecord): Promise<void> {
  const dom = await lookUp(host, domainName(record))
  if (dom) await undefine(host, dom)
  await removePid(host.paths, domainName(record))
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
  // A driver without checkpoints and firmware files rejects their flags.
  const work = undefine(always | checkpointsMetadata | nvram).catch((error: unknown) => {
    if (saysLibvirt(error, libvirt.ErrorCode.invalidArg)) return undefine(always)
    throw error
  })
  await ignoring(work, noDomain)
}
