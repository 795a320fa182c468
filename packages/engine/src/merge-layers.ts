import { Fault } from '@skerry/fault'
import * as libvirt from '@skerry/libvirt'
import type { PowerState } from '@skerry/vm'

import { readLayers, type Layers } from './disk.ts'
import { readFacts, type Found } from './find-domain.ts'
import type { Host } from './host.ts'
import { letGoBelow } from './settle-layers.ts'

const DISK = 'vda'
/** As long as a copy of the disk may take. */
const MERGE_TIMEOUT_MS = 3_600_000

/**
 * Makes the disk of a guest that runs one layer again: QEMU fetches what lies below into the layer
 * that is written to, while the guest goes on. The lower layers are only let go of, because others
 * may stand on them. Cut short it does no harm: the chain is what it was.
 */
export async function mergeLayers(host: Host, found: Found, power: PowerState): Promise<Layers> {
  const { record, dom } = found
  // One that was begun by a vmd that has died goes on without it.
  await untilIdle(host, dom)
  await host.link.call(libvirt.domainBlockPull, { dom, path: DISK, bandwidth: 0n, flags: 0 })
  await untilIdle(host, dom)
  const { disk } = await readFacts(host, dom, 'next')
  const layers = await readLayers(disk)
  if (layers.length > 1) {
    throw new Fault('unavailable', `the disk of VM ${record.id} could not be made one layer`, {
      hint: 'see that there is room on the disk, then ask again; or power it off, then clone',
    })
  }
  await letGoBelow(host, found, power)
  return layers
}

async function untilIdle(host: Host, dom: libvirt.Domain): Promise<void> {
  const ended = await host.changes.until(dom.name, MERGE_TIMEOUT_MS, async () => {
    const asked = { dom, path: DISK, flags: 0 }
    const { found } = await host.link.call(libvirt.domainGetBlockJobInfo, asked)
    return found === 0 ? true : undefined
  })
  if (ended) return
  await host.link.call(libvirt.domainBlockJobAbort, { dom, path: DISK, flags: 0 })
  throw new Fault('timed-out', `QEMU did not make the disk of ${dom.name} one layer in time`, {
    hint: 'power it off, then clone',
  })
}
