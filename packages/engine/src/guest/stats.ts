import * as libvirt from '@skerry/libvirt'

import { findVm } from '../domain/find-domain.ts'
import type { Host } from '../host/host.ts'
import type { Owner } from '../host/owner.ts'
import { counterGroups, readCounters } from './counters.ts'

/** The resources a VM has used since its QEMU process started; zero while it is off. */
export interface Stats {
  readonly cpuNanoseconds: bigint
  readonly memoryBytes: bigint
  readonly disk: {
    readonly readBytes: bigint
    readonly writtenBytes: bigint
    readonly allocatedBytes: bigint
  }
  readonly network: { readonly receivedBytes: bigint; readonly sentBytes: bigint }
}

export async function readStats(host: Host, id: string, owner?: Owner): Promise<Stats> {
  const { dom } = await findVm(host, id, owner)
  const { retStats } = await host.link.call(libvirt.connectGetAllDomainStats, {
    doms: [dom],
    stats: counterGroups,
    flags: 0,
  })
  const counters = readCounters(retStats[0]?.params ?? [])
  return {
    cpuNanoseconds: counters.cpuNanoseconds ?? 0n,
    memoryBytes: (counters.occupiedKib ?? 0n) * 1024n,
    disk: {
      readBytes: counters.readBytes ?? 0n,
      writtenBytes: counters.writtenBytes ?? 0n,
      allocatedBytes: counters.allocatedBytes ?? 0n,
    },
    network: {
      receivedBytes: counters.receivedBytes ?? 0n,
      sentBytes: counters.sentBytes ?? 0n,
    },
  }
}
