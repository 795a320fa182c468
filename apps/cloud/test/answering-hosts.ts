// The part of hosts that requests of tenants reach: screens and usage. They record what they get, and can be away.
import { Fault } from '@skerry/fault'
import type { HostApi } from '@skerry/host-api'
import type { HostId, UsageSeries, UsageWindow, VmId } from '@skerry/vm'

type ArmedScreen = Parameters<HostApi['arm']>[0]
export interface Screens {
  readonly armed: ArmedScreen[]
  away: boolean
}

/** Hosts on which every VM had a gap before its last value. */
export const usageAt = (screens: Screens) => (host: HostId) => ({
  async readUsage(_vm: VmId, { step, points }: UsageWindow): Promise<UsageSeries> {
    if (screens.away) throw new Fault('unavailable', `host ${host} does not answer`)
    const values = (last: number) =>
      Array.from({ length: points }, (_, at) => (at === points - 1 ? last : null))
    return {
      step,
      until: '2026-11-15T12:00:00.000Z',
      cpuPercent: values(12),
      memoryMB: values(512),
      diskRead: values(0),
      diskWrite: values(81_920),
      netIn: values(2048),
      netOut: values(1024),
    }
  },
})

/** Hosts that record the calls they receive. */
export const screensOf = (screens: Screens) => (host: HostId) => ({
  async arm(screen: ArmedScreen) {
    if (screens.away) throw new Fault('unavailable', `host ${host} does not answer`)
    screens.armed.push(screen)
  },
  async takeScreenshot(vm: VmId, boot: string) {
    if (screens.away) throw new Fault('unavailable', `host ${host} does not answer`)
    if (boot === 'gone') throw new Fault('wrong-state', `VM ${vm} is off`)
    return Buffer.from(`the picture of ${vm} in ${boot}`)
  },
})
