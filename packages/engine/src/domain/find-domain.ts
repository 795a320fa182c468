import { Fault } from '@skerry/fault'
import * as libvirt from '@skerry/libvirt'
import type { VmId } from '@skerry/vm'

import { domainName } from '../host/definition.ts'
import type { Host } from '../host/host.ts'
import type { Owner } from '../host/owner.ts'
import type { VmRecord } from '../host/record.ts'
import { saysLibvirt } from '../host/to-fault.ts'
import { readDomain, type DomainFacts } from './domain-xml.ts'

/** A VM with its record and its libvirt domain. */
export interface FoundVm {
  readonly record: VmRecord
  readonly dom: libvirt.Domain
}

/** The VM with this id, if it belongs to this owner. */
export async function findVm(host: Host, id: string, owner: Owner = 'local'): Promise<FoundVm> {
  const record = findRecord(host, id, owner)
  const dom = await lookUp(host, domainName(record))
  if (dom) return { record, dom }
  throw new Fault('unavailable', `VM ${id} has a disk but no libvirt domain`, {
    hint: `delete VM ${id}, or define its domain ${domainName(record)} again`,
  })
}

/** A VM that is being created or deleted counts as not found. */
export function findRecord({ records }: Host, id: string, owner: Owner = 'local'): VmRecord {
  const record = records.get(id, owner)
  if (record?.phase === 'there') return record
  throw new Fault('not-found', `there is no VM ${id}`)
}

export async function lookUp({ link }: Host, name: string): Promise<libvirt.Domain | undefined> {
  try {
    return (await link.call(libvirt.domainLookupByName, { name })).dom
  } catch (error) {
    if (saysLibvirt(error, libvirt.ErrorCode.noDomain)) return undefined
    throw error
  }
}

/** The current definition, or with 'next' the one that the next start will use. */
export async function readFacts(
  { link }: Host,
  dom: libvirt.Domain,
  which: 'now' | 'next' = 'now',
): Promise<DomainFacts> {
  const flags = which === 'next' ? libvirt.DomainXMLFlags.inactive : 0
  const { xml } = await link.call(libvirt.domainGetXmlDesc, { dom, flags })
  const facts = readDomain(xml)
  if (facts) return facts
  throw new Fault('conflict', `domain ${dom.name} was not created by Skerry`, {
    hint: 'rename or remove it with virsh',
  })
}

export const asVmId = (id: string): VmId => id as VmId
