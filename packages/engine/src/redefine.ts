import { stat } from 'node:fs/promises'

import * as libvirt from '@skerry/libvirt'

import type { Definition } from './definition.ts'
import { readLayers } from './disk.ts'
import { domainXml } from './domain-xml.ts'
import { readFacts, type Found } from './find-domain.ts'
import type { Host } from './host.ts'
import { seedFile, serialFile } from './paths.ts'

/** Defines a VM that is off anew, with some of it changed. */
export async function redefine(
  host: Host,
  { record, dom }: Found,
  change: Partial<Definition>,
): Promise<void> {
  const { id, owner, incarnation, uuid, title, cpus, memoryMiB, nested, mac, bridge, disk } =
    await readFacts(host, dom, 'next')
  const seed = seedFile(host.paths, record)
  const definition: Definition = {
    ...{ id, owner, incarnation, uuid, title, cpus, memoryMiB, nested, mac, bridge },
    network: record.network,
    layers: change.layers ?? (await readLayers(disk)),
    seed: (await stat(seed).catch(() => undefined)) ? seed : undefined,
    serial: serialFile(host.paths, record),
    ...change,
  }
  const xml = domainXml(definition, host.hypervisor)
  await host.link.call(libvirt.domainDefineXmlFlags, { xml, flags: 0 })
}
