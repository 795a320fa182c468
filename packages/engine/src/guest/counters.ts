import * as libvirt from '@skerry/libvirt'

/** libvirt's names of the counters of a VM, of its first disk and its first network card. */
const fields = {
  cpuNanoseconds: 'cpu.time',
  cpus: 'vcpu.current',
  /** What QEMU occupies on the host. */
  occupiedKib: 'balloon.rss',
  /** As the guest sees it, if its balloon driver reports it. */
  guestKib: 'balloon.available',
  usableKib: 'balloon.usable',
  unusedKib: 'balloon.unused',
  readBytes: 'block.0.rd.bytes',
  writtenBytes: 'block.0.wr.bytes',
  allocatedBytes: 'block.0.allocation',
  receivedBytes: 'net.0.rx.bytes',
  sentBytes: 'net.0.tx.bytes',
} as const

/** The counters of a VM since its QEMU process started. What libvirt did not report is missing. */
export type VmCounters = Readonly<Partial<Record<keyof typeof fields, bigint>>>

const types = libvirt.DomainStatsTypes
/** The groups in which libvirt reports them. */
export const counterGroups =
  types.cpuTotal | types.vcpu | types.balloon | types.block | types.interface

export function readCounters(params: readonly libvirt.TypedParam[]): VmCounters {
  const counters: Partial<Record<keyof typeof fields, bigint>> = {}
  for (const name of Object.keys(fields) as (keyof typeof fields)[]) {
    const value = libvirt.readCount(params, fields[name])
    if (value !== undefined) counters[name] = value
  }
  return counters
}
