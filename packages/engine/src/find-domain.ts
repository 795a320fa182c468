import { Fault } from '@skerry/fault'
import * as libvirt from '@skerry/libvirt'
import type { VmId } from '@skerry/vm'

import { domainName } from './definition.ts'
import { readDomain, type DomainFacts } from './domain-xml.ts'
import type { Host } from './host.ts'
import type { Owner, VmRecord } from './record.ts'
import { saysLibvirt } from './to-fault.ts'

/** A VM of ours: what we remember of it, and what libvirt calls it. */
export interface Found {
  readonly record: VmRecord
  readonly dom: libvirt.Domain
}

/** The VM of this id, if it is this owner's. */
export async function findVm(host: Host, id: string, owner: Owner = 'local'): Promise<Found> {
  const record = findRecord(host, id, owner)
  const dom = await lookUp(host, domainName(record))
  if (dom) return { record, dom }
  throw new Fault('unavailable', `libvirt no longer knows VM ${id}, but its disk is there`, {
    hint: `delete VM ${id}, or define its domain ${domainName(record)} again`,
  })
}

/** What is not whole yet, or no longer, is not there. */
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

/** The definition that is used now, or with 'next' the one that the next start will use. */
export async function readFacts(
  { link }: Host,
  dom: libvirt.Domain,
  which: 'now' | 'next' = 'now',
): Promise<DomainFacts> {
  const flags = which === 'next' ? libvirt.DomainXMLFlags.inactive : 0
  const { xml } = await link.call(libvirt.domainGetXmlDesc, { dom, flags })
  const facts = readDomain(xml)
  if (facts) return facts
  throw new Fault('conflict', `the domain ${dom.name} was not made by Skerry`, {
    hint: 'rename or remove it with libvirt’s own tools',
  })
}

export const asVmId = (id: string): VmId => id as VmId
