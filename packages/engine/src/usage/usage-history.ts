import {
  noUsage,
  USAGE_SPAN,
  USAGE_STEP,
  usageKeys,
  type UsageKey,
  type UsageSeries,
  type UsageWindow,
} from '@skerry/vm'

import { MISSED_MS, STEP_MS, usageBetween, type UsagePoint, type UsageSample } from './rates.ts'

const SLOTS = USAGE_SPAN / USAGE_STEP
/** Rates over a shorter time would be noise: such a sample is ignored. */
const TOO_EARLY_MS = 1000

/** When samples were taken. */
export interface UsageMoment {
  readonly time: Date
  /** Monotonic milliseconds, including the time in which the machine slept: setting the wall clock changes nothing that is kept. */
  readonly atMs: number
}

/** The last hour of one VM: a ring for each value, 6 × 240 × 4 = 5760 bytes. NaN is a gap. */
interface VmUsage {
  readonly rings: Readonly<Record<UsageKey, Float32Array>>
  /** The slot that was written last. */
  slot: number
  sample: UsageSample
}

/** The use of all VMs of a host over the last hour, in memory. A restart of vmd starts from scratch. */
export class UsageHistory {
  readonly #vms = new Map<string, VmUsage>()
  #last: UsageMoment | undefined
  /** Milliseconds since the first sample. */
  #elapsedMs = 0

  get #slot(): number {
    return Math.floor(this.#elapsedMs / STEP_MS)
  }

  /** Adds one sample of every running VM, by name; forgets VMs that no longer exist, and those that were off for an hour. */
  record(
    moment: UsageMoment,
    samples: ReadonlyMap<string, UsageSample>,
    exists: (name: string) => boolean,
  ): void {
    const last = this.#last
    const ranMs = last ? moment.atMs - last.atMs : 0
    if (last && ranMs >= 0 && ranMs < TOO_EARLY_MS) return
    this.#elapsedMs += Math.max(0, ranMs)
    this.#last = moment
    for (const [name, sample] of samples) this.#add(name, sample)
    for (const [name, { slot }] of this.#vms) {
      if (!exists(name) || this.#slot - slot >= SLOTS) this.#vms.delete(name)
    }
  }

  #add(name: string, sample: UsageSample): void {
    const known = this.#vms.get(name)
    const point = usageBetween(known?.sample, sample)
    const vm = known ?? { rings: emptyRings(), slot: this.#slot, sample }
    // The mean of the time since the last sample is also that of the slots between, unless samples are missing.
    const isNext = sample.atMs - vm.sample.atMs < MISSED_MS && this.#slot - vm.slot <= 2
    for (let slot = Math.max(vm.slot + 1, this.#slot - SLOTS + 1); slot < this.#slot; slot += 1) {
      write(vm, slot, isNext ? point : undefined)
    }
    write(vm, this.#slot, point)
    vm.slot = this.#slot
    vm.sample = sample
    this.#vms.set(name, vm)
  }

  /** The wanted part of the last hour; empty if the VM was not running when the host last looked. */
  read(name: string, window: UsageWindow, now: Date): UsageSeries {
    const vm = this.#vms.get(name)
    const last = this.#last
    if (!last || !vm || vm.sample.atMs !== last.atMs) return noUsage(window, now)
    const series = (key: UsageKey) =>
      Array.from({ length: window.points }, (_, at) => this.#mean(vm.rings[key], window, at))
    return {
      step: window.step,
      until: last.time.toISOString(),
      cpuPercent: series('cpuPercent'),
      memoryMB: series('memoryMB'),
      diskRead: series('diskRead'),
      diskWrite: series('diskWrite'),
      netIn: series('netIn'),
      netOut: series('netOut'),
    }
  }

  /** Of the known values in this step, rounded; null if none is known. */
  #mean(ring: Float32Array, { step, points }: UsageWindow, at: number): number | null {
    const slots = step / USAGE_STEP
    const first = this.#slot - (points - at) * slots + 1
    const values = Array.from({ length: slots }, (_, each) => ring[indexOf(first + each)])
    const known = values.filter((each) => each !== undefined && !Number.isNaN(each)) as number[]
    if (known.length === 0) return null
    return Math.round(known.reduce((sum, each) => sum + each, 0) / known.length)
  }
}

const indexOf = (slot: number): number => ((slot % SLOTS) + SLOTS) % SLOTS

function emptyRings(): VmUsage['rings'] {
  const ring = () => new Float32Array(SLOTS).fill(Number.NaN)
  return {
    cpuPercent: ring(),
    memoryMB: ring(),
    diskRead: ring(),
    diskWrite: ring(),
    netIn: ring(),
    netOut: ring(),
  }
}

function write({ rings }: VmUsage, slot: number, point: UsagePoint | undefined): void {
  for (const key of usageKeys) rings[key][indexOf(slot)] = point?.[key] ?? Number.NaN
}
