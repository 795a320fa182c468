import { usageKeys, type UsageKey, type UsageSeries } from '@skerry/vm'
import { element, type Element } from '@skerry/xml'

const names: Readonly<Record<UsageKey, string>> = {
  cpuPercent: 'CpuPercent',
  memoryMB: 'MemoryMB',
  diskRead: 'DiskRead',
  diskWrite: 'DiskWrite',
  netIn: 'NetIn',
  netOut: 'NetOut',
}

/** What a VM used: an element for each value, and an empty one with xsi:nil for a gap. */
export const metrics = (series: UsageSeries): Element =>
  element(
    'Metrics',
    {
      'xmlns:xsi': 'http://www.w3.org/2001/XMLSchema-instance',
      step: series.step,
      until: series.until,
    },
    ...usageKeys.flatMap((key) => series[key].map((value) => valueElement(names[key], value))),
  )

const valueElement = (name: string, value: number | null): Element =>
  value === null ? element(name, { 'xsi:nil': true }) : element(name, {}, value)
