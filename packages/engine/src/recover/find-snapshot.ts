import { Fault } from '@skerry/fault'
import * as libvirt from '@skerry/libvirt'

import type { Host } from '../host/host.ts'
import { saysLibvirt } from '../host/to-fault.ts'

/** The snapshot with this name in libvirt. */
export async function findSnapshot(
  host: Host,
  id: string,
  dom: libvirt.Domain,
  name: string,
): Promise<libvirt.DomainSnapshot> {
  const snap = await lookUpSnapshot(host, dom, name)
  if (snap) return snap
  throw new Fault('not-found', `VM ${id} has no snapshot ${name}`)
}

export async function lookUpSnapshot(
  { link }: Host,
  dom: libvirt.Domain,
  name: string,
): Promise<libvirt.DomainSnapshot | undefined> {
  try {
    return (await link.call(libvirt.domainSnapshotLookupByName, { dom, name, flags: 0 })).snap
  } catch (error) {
    if (saysLibvirt(error, libvirt.ErrorCode.noDomainSnapshot)) return undefined
    throw error
  }
}

export async function hasSnapshots({ link }: Host, dom: libvirt.Domain): Promise<boolean> {
  const { num } = await link.call(libvirt.domainSnapshotNum, { dom, flags: 0 })
  return num > 0
}
