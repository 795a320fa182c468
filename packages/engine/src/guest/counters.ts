import * as libvirt from '@skerry/libvirt'

/** libvirt's names of the counters of a VM and of its first disk. */
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
} as const
type CounterName = keyof typeof fields | 'receivedBytes' | 'sentBytes'

/** The counters of a VM since its QEMU process started. What libvirt did not report is missing. */
export type VmCounters = Readonly<Partial<Record<CounterName, bigint>>>

const types = libvirt.DomainStatsTypes
/** The groups in which libvirt reports them. */
export const counterGroups =
  types.cpuTotal | types.vcpu | types.balloon | types.block | types.interface

export function readCounters(params: readonly libvirt.TypedParam[]): VmCounters {
  const counters: Partial<Record<CounterName, bigint>> = {}
  const add = (name: CounterName, field: string): void => {
    const value = libvirt.readCount(params, field)
    if (value !== undefined) counters[name] = (counters[name] ?? 0n) + value
  }
  for (const name of Object.keys(fields) as (keyof typeof fields)[]) add(name, fields[name])
  const cards = Number(libvirt.readCount(params, 'net.count') ?? 0n)
  for (let card = 0; card < cards; card += 1) {
    add('receivedBytes', `net.${card}.rx.bytes`)
    add('sentBytes', `net.${card}.tx.bytes`)
  }
  return counters
}
