import * as libvirt from '@skerry/libvirt'

import { findVm } from '../domain/find-domain.ts'
import type { Host } from '../host/host.ts'
import type { Owner } from '../host/owner.ts'

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
  const types = libvirt.DomainStatsTypes
  const { retStats } = await host.link.call(libvirt.connectGetAllDomainStats, {
    doms: [dom],
    stats: types.cpuTotal | types.balloon | types.block | types.interface,
    flags: 0,
  })
  const params = retStats[0]?.params ?? []
  const count = (field: string): bigint => libvirt.readCount(params, field) ?? 0n
  return {
    cpuNanoseconds: count('cpu.time'),
    memoryBytes: count('balloon.rss') * 1024n,
    disk: {
      readBytes: count('block.0.rd.bytes'),
      writtenBytes: count('block.0.wr.bytes'),
      allocatedBytes: count('block.0.allocation'),
    },
    network: {
      receivedBytes: count('net.0.rx.bytes'),
      sentBytes: count('net.0.tx.bytes'),
    },
  }
}
