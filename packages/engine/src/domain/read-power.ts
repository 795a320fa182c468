import * as libvirt from '@skerry/libvirt'
import type { PowerState } from '@skerry/vm'

import type { Host } from '../host/host.ts'

const { DomainState, DomainPausedReason } = libvirt

export interface Power {
  readonly power: PowerState
  readonly pausedBy?: 'disk error'
}

/** Maps libvirt's state to ours; undefined if only the existence of a saved image decides. */
export function powerOfState(state: number, reason: number): Power | undefined {
  switch (state) {
    case DomainState.running:
    case DomainState.blocked:
    case DomainState.shutdown:
    case DomainState.pmsuspended:
      return { power: 'on' }
    case DomainState.paused:
      // QEMU is still starting: the VM is in its former state.
      if (reason === DomainPausedReason.startingUp) return undefined
      return reason === DomainPausedReason.ioerror
        ? { power: 'paused', pausedBy: 'disk error' }
        : { power: 'paused' }
    default:
      return undefined
  }
}

export async function readPowerOf({ link }: Host, dom: libvirt.Domain): Promise<Power> {
  const { state, reason } = await link.call(libvirt.domainGetState, { dom, flags: 0 })
  const running = powerOfState(state, reason)
  if (running) return running
  const { result } = await link.call(libvirt.domainHasManagedSaveImage, { dom, flags: 0 })
  return { power: result === 1 ? 'suspended' : 'off' }
}
