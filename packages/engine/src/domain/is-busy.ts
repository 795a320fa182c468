import * as libvirt from '@skerry/libvirt'

import type { Host } from '../host/host.ts'
import { saysLibvirt } from '../host/to-fault.ts'

/** Whether libvirt is running a long job on the domain. */
export async function isBusy({ link }: Host, dom: libvirt.Domain): Promise<boolean> {
  try {
    const { type } = await link.call(libvirt.domainGetJobInfo, { dom })
    return type !== libvirt.DomainJobType.none
  } catch (error) {
    // The domain does not run, or its driver has no long jobs.
    const { operationInvalid, noSupport } = libvirt.ErrorCode
    if (saysLibvirt(error, operationInvalid, noSupport)) return false
    throw error
  }
}
