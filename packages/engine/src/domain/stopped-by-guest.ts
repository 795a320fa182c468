import * as libvirt from '@skerry/libvirt'

import type { Host } from '../host/host.ts'
import type { Owner } from '../host/owner.ts'
import { findVm } from './find-domain.ts'

/**
 * Whether a VM is off because its guest shut itself down, as its user wished. A crash, a killed QEMU, a power cut and an order
 * from here do not count. libvirt forgets the reason when it restarts: then the answer is false.
 */
export async function stoppedByGuest(host: Host, id: string, owner: Owner): Promise<boolean> {
  const { dom } = await findVm(host, id, owner)
  const { state, reason } = await host.link.call(libvirt.domainGetState, { dom, flags: 0 })
  const isShutDown =
    state === libvirt.DomainState.shutoff && reason === libvirt.DomainShutoffReason.shutdown
  return isShutDown && (await host.endings.isOwn(dom.name))
}
