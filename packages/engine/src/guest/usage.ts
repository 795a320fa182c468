import * as libvirt from '@skerry/libvirt'
import type { UsageSeries, UsageWindow } from '@skerry/vm'

import { findRecord } from '../domain/find-domain.ts'
import { domainName } from '../host/definition.ts'
import type { Host } from '../host/host.ts'
import type { Owner } from '../host/owner.ts'
import type { UsageSample } from '../usage/rates.ts'
import { counterGroups, readCounters, type VmCounters } from './counters.ts'

/** A sample that takes longer is given up: the next one is due. */
const SAMPLE_TIMEOUT_MS = 10_000
const KIB = 1024

/** Samples the counters of all running VMs with one call of libvirt. Does not wait for a QEMU that another call waits for. */
export async function sampleUsage(host: Host): Promise<void> {
  const flags = libvirt.ConnectGetAllDomainStatsFlags
  const { retStats } = await host.statsLink.call(
    libvirt.connectGetAllDomainStats,
    {
      doms: [],
      stats: counterGroups,
      // libvirt's in-memory driver, which has no guests to wait for, does not know nowait.
      flags: flags.active | (host.hasFirewall ? flags.nowait : 0),
    },
    { timeoutMs: SAMPLE_TIMEOUT_MS },
  )
  const moment = { time: host.clock.now(), atMs: host.uptimeMs() }
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
  const counters = readCounters(params)
  return {
    atMs,
    run,
    cpus: toNumber(counters.cpus),
    cpuNanoseconds: toNumber(counters.cpuNanoseconds),
    memoryBytes: memoryOf(counters),
    readBytes: toNumber(counters.readBytes),
    writtenBytes: toNumber(counters.writtenBytes),
    receivedBytes: toNumber(counters.receivedBytes),
    sentBytes: toNumber(counters.sentBytes),
  }
}

const toNumber = (count: bigint | undefined): number | undefined =>
  count === undefined ? undefined : Number(count)

/** In use as the guest sees it, if its balloon driver reports it; otherwise what QEMU occupies on the host. */
function memoryOf({
  guestKib: all,
  usableKib,
  unusedKib,
  occupiedKib,
}: VmCounters): number | undefined {
  const free = usableKib ?? unusedKib
  const kib = all !== undefined && free !== undefined && free <= all ? all - free : occupiedKib
  return kib === undefined ? undefined : Number(kib) * KIB
}
