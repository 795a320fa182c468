import { stat } from 'node:fs/promises'

import * as libvirt from '@skerry/libvirt'

import { domainXml } from '../domain/domain-xml.ts'
import { readFacts, type FoundVm } from '../domain/find-domain.ts'
import type { DomainDefinition, OverlayCards } from '../host/definition.ts'
import type { Host } from '../host/host.ts'
import { seedFile, serialFile } from '../host/paths.ts'
import type { VmRecord } from '../host/record.ts'
import { readLayers } from './disk.ts'

/** Redefines a VM that is off, with some properties changed. */
export async function redefine(
  host: Host,
  { record, dom }: FoundVm,
  change: Partial<DomainDefinition>,
): Promise<void> {
  const { id, owner, incarnation, uuid, title, cpus, memoryMiB, nested, mac, bridge, disk } =
    await readFacts(host, dom, 'next')
  const seed = seedFile(host.paths, record)
  const definition: DomainDefinition = {
    id,
    owner,
    incarnation,
    uuid,
    title,
    cpus,
    memoryMiB,
    nested,
    mac,
    bridge,
    network: record.network,
    overlay: overlayOf(host, record),
    layers: change.layers ?? (await readLayers(disk)),
    seed: (await stat(seed).catch(() => undefined)) ? seed : undefined,
    serial: serialFile(host.paths, record),
    ...change,
  }
  const xml = domainXml(definition, host.hypervisor)
  await host.link.call(libvirt.domainDefineXmlFlags, { xml, flags: 0 })
}

/** The cards that a VM has by its record, if they are on networks across hosts. */
export const overlayOf = ({ overlay }: Host, { nics }: VmRecord): OverlayCards | undefined =>
  nics && { nics, datapath: overlay.datapath }
