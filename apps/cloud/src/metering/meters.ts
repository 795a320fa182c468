import type { UsageColumn } from './sum-usage.ts'

/** One of the things that are metered, as documents and tables show it. */
export interface MeteredUnit {
  readonly column: UsageColumn
  /** In documents: units times milliseconds. */
  readonly attribute: string
  /** In tables by the columns of FOCUS. */
  readonly sku: string
  readonly service: 'Compute' | 'Storage' | 'Networking'
  readonly description: string
  readonly unit: 'VM-Hours' | 'vCPU-Hours' | 'GiB-Hours' | 'Address-Hours'
}

export const meters: readonly MeteredUnit[] = [
  {
    column: 'vm_ms',
    attribute: 'vmMilliseconds',
    sku: 'vm',
    service: 'Compute',
    description: 'VMs that exist',
    unit: 'VM-Hours',
  },
  {
    column: 'running_vm_ms',
    attribute: 'runningVmMilliseconds',
    sku: 'vm-running',
    service: 'Compute',
    description: 'VMs that run',
    unit: 'VM-Hours',
  },
  {
    column: 'cpu_ms',
    attribute: 'cpuMilliseconds',
    sku: 'vcpu',
    service: 'Compute',
    description: 'virtual CPUs of VMs',
    unit: 'vCPU-Hours',
  },
  {
    column: 'running_cpu_ms',
    attribute: 'runningCpuMilliseconds',
    sku: 'vcpu-running',
    service: 'Compute',
    description: 'virtual CPUs of VMs that run',
    unit: 'vCPU-Hours',
  },
  {
    column: 'memory_mib_ms',
    attribute: 'memoryMBMilliseconds',
    sku: 'memory',
    service: 'Compute',
    description: 'memory of VMs',
    unit: 'GiB-Hours',
  },
  {
    column: 'running_memory_mib_ms',
    attribute: 'runningMemoryMBMilliseconds',
    sku: 'memory-running',
    service: 'Compute',
    description: 'memory of VMs that run',
    unit: 'GiB-Hours',
  },
  {
    column: 'storage_mib_ms',
    attribute: 'storageMBMilliseconds',
    sku: 'storage',
    service: 'Storage',
    description: 'disks, snapshots and saved memory of VMs',
    unit: 'GiB-Hours',
  },
  {
    column: 'template_mib_ms',
    attribute: 'templateMBMilliseconds',
    sku: 'template',
    service: 'Storage',
    description: 'templates',
    unit: 'GiB-Hours',
  },
  {
    column: 'address_ms',
    attribute: 'externalAddressMilliseconds',
    sku: 'external-address',
    service: 'Networking',
    description: 'external addresses',
    unit: 'Address-Hours',
  },
]

const HOUR_MS = 3_600_000n
const DECIMALS = 6

/** Milliseconds as hours with six decimals, rounded half up; of MiB, as GiB. */
export function hoursOf(ms: bigint, { unit }: Pick<MeteredUnit, 'unit'>): string {
  const per = unit === 'GiB-Hours' ? HOUR_MS * 1024n : HOUR_MS
  const scaled = (ms * 2n * 10n ** BigInt(DECIMALS) + per) / (2n * per)
  const digits = String(scaled).padStart(DECIMALS + 1, '0')
  return `${digits.slice(0, -DECIMALS)}.${digits.slice(-DECIMALS)}`
}
