// A host as the pages show it, and the capacity of all hosts.
import type { HostQueryRecord } from '../api/query.ts'

export type HostState = 'open' | 'closed' | 'away'

/** A host that was not seen for this long does not answer. */
const AWAY_MS = 30_000

export function hostStateOf(host: HostQueryRecord, now: number): HostState {
  const isSilent = host.lastSeen !== undefined && now - Date.parse(host.lastSeen) > AWAY_MS
  if (host.state !== 'joined' || isSilent) return 'away'
  return host.isEnabled && host.isOpen !== false ? 'open' : 'closed'
}

export const memoryShare = ({ memUsed, memTotal }: HostQueryRecord): number =>
  memTotal === 0 ? 0 : memUsed / memTotal

export interface Amount {
  readonly used: number
  readonly total: number
}

export interface Capacity {
  readonly vms: number
  /** undefined: the cloud does not report the CPUs in use. */
  readonly cpus: Amount | undefined
  readonly memory: Amount
  readonly storage: Amount
}

export function capacityOf(hosts: readonly HostQueryRecord[]): Capacity {
  const sum = (value: (host: HostQueryRecord) => number): number =>
    hosts.reduce((total, host) => total + value(host), 0)
  const knowsCpus = hosts.every(({ cpusUsed }) => cpusUsed !== undefined)
  return {
    vms: sum((host) => host.numberOfVMs),
    cpus: knowsCpus
      ? {
          used: sum((host) => host.cpusUsed ?? 0),
          total: sum((host) => host.numOfCpusLogical),
        }
      : undefined,
    memory: { used: sum((host) => host.memUsed), total: sum((host) => host.memTotal) },
    storage: { used: sum((host) => host.storageUsed), total: sum((host) => host.storageTotal) },
  }
}
