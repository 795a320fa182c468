import * as libvirt from '@skerry/libvirt'

import { findVm } from './find-domain.ts'
import type { Host } from './host.ts'
import type { Owner } from './record.ts'

/**
 * Whether a VM is off because its guest shut itself down, which is a wish of whoever uses it. A crash, a killed QEMU, a power
 * cut and what was ordered here are not. libvirt forgets it when it starts anew: then nobody says so.
 */
export async function stoppedByGuest(host: Host, id: string, owner: Owner): Promise<boolean> {
  const { dom } = await findVm(host, id, owner)
  const { state, reason } = await host.link.call(libvirt.domainGetState, { dom, flags: 0 })
  const isShutDown =
    state === libvirt.DomainState.shutoff && reason === libvirt.DomainShutoffReason.shutdown
  return isShutDown && (await host.endings.isOwn(dom.name))
}
