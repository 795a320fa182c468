import * as libvirt from '@skerry/libvirt'
import type { UsageSeries, UsageWindow } from '@skerry/vm'

import { findRecord } from '../domain/find-domain.ts'
import { domainName } from '../host/definition.ts'
import type { Host } from '../host/host.ts'
import type { Owner } from '../host/owner.ts'
import type { UsageSample } from '../usage/rates.ts'

/** A sample that takes longer is given up: the next one is due. */
const SAMPLE_TIMEOUT_MS = 10_000
const KIB = 1024

/** Samples the counters of all running VMs with one call of libvirt. Does not wait for a QEMU that another call waits for. */
export async function sampleUsage(host: Host): Promise<void> {
  const types = libvirt.DomainStatsTypes
  const flags = libvirt.ConnectGetAllDomainStatsFlags
  const { retStats } = await host.statsLink.call(
    libvirt.connectGetAllDomainStats,
    {
      doms: [],
      stats: types.cpuTotal | types.vcpu | types.balloon | types.block | types.interface,
      // libvirt's in-memory driver, which has no guests to wait for, does not know nowait.
      flags: flags.active | (host.hasFirewall ? flags.nowait : 0),
    },
    { timeoutMs: SAMPLE_TIMEOUT_MS },
  )
  const moment = { wall: host.clock.now(), atMs: host.uptimeMs() }
  const samples = new Map(
    retStats.map(({ dom, params }) => [dom.name, sampleOf(params, moment.atMs, dom.id)]),
  )
  const names = new Set(host.records.all().map(domainName))
  for (const name of samples.keys()) if (!names.has(name)) samples.delete(name)
  host.usage.record(moment, samples, (name) => names.has(name))
}

/** What a VM used in the last hour, as far as the host has sampled it. */
export async function readUsage(
  host: Host,
  id: string,
  window: UsageWindow,
  owner?: Owner,
): Promise<UsageSeries> {
  return host.usage.read(domainName(findRecord(host, id, owner)), window, host.clock.now())
}

function sampleOf(params: readonly libvirt.TypedParam[], atMs: number, run: number): UsageSample {
  const values = libvirt.paramsToMap(params)
  const count = (field: string): number | undefined => {
    const value = values.get(field)
    return typeof value === 'bigint' || typeof value === 'number' ? Number(value) : undefined
  }
  return {
    atMs,
    run,
    cpus: count('vcpu.current'),
    cpuNanoseconds: count('cpu.time'),
    memoryBytes: memoryOf(count),
    readBytes: count('block.0.rd.bytes'),
    writtenBytes: count('block.0.wr.bytes'),
    receivedBytes: count('net.0.rx.bytes'),
    sentBytes: count('net.0.tx.bytes'),
  }
}

/** In use as the guest sees it, if its balloon driver reports it; otherwise what QEMU occupies on the host. */
function memoryOf(count: (field: string) => number | undefined): number | undefined {
  const [all, free] = [
    count('balloon.available'),
    count('balloon.usable') ?? count('balloon.unused'),
  ]
  const kib = all !== undefined && free !== undefined && free <= all ? all - free : undefined
  const used = kib ?? count('balloon.rss')
  return used === undefined ? undefined : used * KIB
}
