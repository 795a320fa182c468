import { Fault } from '@skerry/fault'
import * as libvirt from '@skerry/libvirt'
import type { PowerState } from '@skerry/vm'

import { readFacts, type FoundVm } from '../domain/find-domain.ts'
import type { Host } from '../host/host.ts'
import { readLayers, type Layers } from './disk.ts'
import { letGoBelow } from './settle-layers.ts'

const DISK = 'vda'
/** As long as a copy of the disk may take. */
const MERGE_TIMEOUT_MS = 3_600_000

/**
 * Merges the disk of a running guest into one layer: QEMU pulls the data of the lower layers into
 * the active one while the guest runs. The lower layers are only unlinked, because other disks may
 * be based on them. An interruption does no harm: the chain stays as it was.
 */
export async function mergeLayers(host: Host, found: FoundVm, power: PowerState): Promise<Layers> {
  const { record, dom } = found
  // A merge started by a vmd that has died continues without it.
  await untilIdle(host, dom)
  await host.link.call(libvirt.domainBlockPull, { dom, path: DISK, bandwidth: 0n, flags: 0 })
  await untilIdle(host, dom)
  const { disk } = await readFacts(host, dom, 'next')
  const layers = await readLayers(disk)
  if (layers.length > 1) {
    throw new Fault('unavailable', `failed to merge the disk layers of VM ${record.id}`, {
      hint: 'free disk space and retry; or power it off, then clone',
    })
  }
  await letGoBelow(host, found, power)
  return layers
}

async function untilIdle(host: Host, dom: libvirt.Domain): Promise<void> {
  const ended = await host.changes.until(dom.name, MERGE_TIMEOUT_MS, async () => {
    const requested = { dom, path: DISK, flags: 0 }
    const { found } = await host.link.call(libvirt.domainGetBlockJobInfo, requested)
    return found === 0 ? true : undefined
  })
  if (ended) return
  await host.link.call(libvirt.domainBlockJobAbort, { dom, path: DISK, flags: 0 })
  throw new Fault('timed-out', `QEMU did not merge the disk layers of ${dom.name} in time`, {
    hint: 'power it off, then clone',
  })
}
