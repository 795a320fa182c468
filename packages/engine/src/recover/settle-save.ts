import * as libvirt from '@skerry/libvirt'
import type { PowerState } from '@skerry/vm'

import type { Host } from '../host/host.ts'
import { saysLibvirt } from '../host/to-fault.ts'

/** Removes an incomplete saved image; libvirt accepts any file as one. */
export async function settleSave(
  host: Host,
  dom: libvirt.Domain,
  power: PowerState,
): Promise<void> {
  const { result } = await host.link.call(libvirt.domainHasManagedSaveImage, { dom, flags: 0 })
  if (result === 0 || (power === 'suspended' && (await isWhole(host, dom)))) return
  await host.link.call(libvirt.domainManagedSaveRemove, { dom, flags: 0 })
}

async function isWhole({ link }: Host, dom: libvirt.Domain): Promise<boolean> {
  try {
    await link.call(libvirt.domainManagedSaveGetXmlDesc, { dom, flags: 0 })
    return true
  } catch (error) {
    if (saysLibvirt(error, libvirt.ErrorCode.operationFailed)) return false
    throw error
  }
}
