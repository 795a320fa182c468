// CPU usage of this machine.
import { readFileSync } from 'node:fs'

/** Kernel counters since boot, over all cores, in ticks. */
export interface CoreTicks {
  readonly total: number
  readonly idle: number
  /** Time that the hypervisor gave to other guests. */
  readonly stolen: number
}

/** Reads the first line of /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal, and two that the first two contain. */
export function readTicks(text: string = readFileSync('/proc/stat', 'utf8')): CoreTicks {
  const [first = ''] = text.split('\n')
  const ticks = first.trim().split(/\s+/).slice(1, 9).map(Number)
  const [, , , idle = 0, waiting = 0, , , stolen = 0] = ticks
  return { total: ticks.reduce((sum, each) => sum + each, 0), idle: idle + waiting, stolen }
}

export function writeShare(from: CoreTicks, to: CoreTicks): string {
  const total = Math.max(1, to.total - from.total)
  const percent = (ticks: number) => `${Math.round((100 * ticks) / total)} %`
  const idle = to.idle - from.idle
  const stolen = to.stolen - from.stolen
  return `busy ${percent(total - idle - stolen)}, idle ${percent(idle)}, stolen ${percent(stolen)}`
}
