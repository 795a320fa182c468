import type { Duplex } from 'node:stream'

import { Fault } from '@skerry/fault'
import {
  ArmedScreens,
  goals,
  PING_MS,
  HostSessions,
  requireFrom,
  ruleOf,
  type VmSpec,
  type Goal,
  type Hello,
  type HostApi,
  type HostRecord,
} from '@skerry/host-api'
import {
  decideOrder,
  nicChange,
  noUsage,
  withOutcome,
  type HostOverlay,
  type Ledger,
  type Order,
  type OverlayJoin,
  type Report,
  type Seed,
  type UsageSeries,
  type UsageWindow,
  type Vm,
  type VmId,
} from '@skerry/vm'

import { simulatedScreen, type SimulatedScreenOptions } from './simulated-screen.ts'
import { isSnapshot, reach, withPower, type SnapshotGoal } from './simulated-vm.ts'

export interface SimulatedHost extends HostApi {
  /** Every step that was executed, by its key. */
  readonly done: readonly string[]
  find(id: VmId): Vm | undefined
  /** The seed that the guest of this VM would get at its first boot. */
  seedOf(id: VmId): Seed | undefined
  /** A power change by the guest itself: 'off' is a guest that shut itself down. */
  changePower(id: VmId, to: Vm['power']): void
  /** The number of viewers of this VM's screen. */
  viewersOf(id: VmId): number
  /** As if this snapshot had been taken. */
  keepSnapshot(id: VmId, name: string, on: boolean): void
  /** Its QEMU died unexpectedly. */
  crash(id: VmId): void
  /** As if the file with the orders of this VM were lost. */
  loseRecord(id: VmId): void
  /** As if the VM had been destroyed without vmd, including its record. */
  vanish(id: VmId): void
  /** The zone that it joined last. */
  readonly joined: OverlayJoin | undefined
  /** Its Open vSwitch begins or ceases to work; tells its follower. */
  changeOverlay(overlay: HostOverlay): void
  /** The host reboots: running VMs are off, followers are disconnected. */
  reboot(): void
}

export interface SimulatedHostOptions {
  readonly vms?: readonly Vm[]
  readonly hello?: Partial<Hello>
  readonly screens?: Omit<SimulatedScreenOptions, 'name'>
  /** The interval of messages to its follower. Default: as a real host. */
  readonly pingMs?: number
}

/** The image of every screen: one white pixel, as PNG. */
const DOT = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABAQAAAAA3bvkkAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==',
  'base64',
)

/**
 * A host without machines: the rules of packages/vm and the orders and sessions of a real host, nothing else. Its only timer is the
 * ping of its one session, so thousands fit into a process.
 */
export function simulatedHost({
  vms = [],
  hello = {},
  screens = {},
  pingMs = PING_MS,
}: SimulatedHostOptions = {}): SimulatedHost {
  return new InMemory({ vms, hello, screens, pingMs })
}

class InMemory implements SimulatedHost {
  readonly done: string[] = []
  readonly #vms: Map<VmId, Vm>
  readonly #ledgers = new Map<VmId, Ledger>()
  readonly #seeds = new Map<VmId, Seed>()
  readonly #snapshots = new Map<VmId, KeptSnapshot>()
  readonly #stoppedByGuest = new Set<VmId>()
  readonly #screens = new ArmedScreens()
  readonly #shown = new Map<Duplex, { readonly vm: VmId; readonly boot: string }>()
  readonly #paints: Omit<SimulatedScreenOptions, 'name'>
  readonly #hello: Partial<Hello>
  readonly #pingMs: number
  #overlay: HostOverlay
  #joined: OverlayJoin | undefined
  #boots = 1
  #lives = 0
  #highest = 0n
  #sessions: HostSessions

  constructor({ vms, hello, screens, pingMs }: Required<SimulatedHostOptions>) {
    this.#pingMs = pingMs
    this.#paints = screens
    this.#vms = new Map(vms.map((vm) => [vm.id, vm]))
    this.#hello = hello
    this.#overlay = hello.overlay ?? { state: 'none', uplinks: [] }
    this.#sessions = this.#newSessions()
    for (const { id: vm, incarnation } of vms) {
      const kept = { vm, incarnation, highest: incarnation, results: {}, begun: [] }
      this.#ledgers.set(vm, { ...kept, task: '' as Ledger['task'] })
      this.#hear(incarnation)
    }
  }

  find(id: VmId): Vm | undefined {
    return this.#vms.get(id)
  }

  seedOf(id: VmId): Seed | undefined {
    return this.#seeds.get(id)
  }

  /** Synchronous: nothing here takes time, so no step can overlap another. */
  async step(order: Order, goal: Goal): Promise<Report> {
    const known = this.#ledgers.get(order.vm)
    if (!known && goal.goal !== 'adopted' && this.#vms.has(order.vm)) {
      const detail = 'quarantined'
      throw new Fault('wrong-state', `VM ${order.vm} is quarantined`, { detail })
    }
    const verdict = decideOrder(known, order, goals[goal.goal])
    if (verdict.kind === 'refuse') {
      throw new Fault(verdict.why, `${order.key}: ${verdict.why}`, { detail: verdict.detail })
    }
    this.#ledgers.set(order.vm, verdict.ledger)
    this.#hear(order.fencingToken)
    if (verdict.kind === 'known') return verdict.report
    const now = this.#ofThisLife(order)
    if (now) requireFrom(order, goal, now)
    if (goal.goal === 'cloned' && !now) this.#requireOff(goal.source as VmId)
    if (goal.goal === 'defined' || goal.goal === 'cloned') {
      this.#requireNics(now, known?.spec as VmSpec | undefined, goal.spec)
    }
    const vm = isSnapshot(goal)
      ? this.#snapshot(now, order, goal)
      : reach(now, order, goal, () => this.#nextBoot(), known?.spec as VmSpec | undefined)
    if (vm?.power !== now?.power) this.#stoppedByGuest.delete(order.vm)
    if ('seed' in goal && goal.seed && !now) this.#seeds.set(order.vm, goal.seed)
    if (vm) this.#vms.set(order.vm, vm)
    else if (goal.goal !== 'image') this.#vms.delete(order.vm)
    this.done.push(order.key)
    const report: Report = { ...this.#sessions.next(order.vm), ...(vm && { vm }) }
    const outcome = {
      report,
      ...('spec' in goal && { spec: goal.spec }),
      ...(goal.goal === 'gone' && { gone: '1970-01-01T00:00:00.000Z' }),
    }
    this.#ledgers.set(order.vm, withOutcome(verdict.ledger, order, outcome))
    this.#darken()
    this.#sessions.changed(order.vm)
    return report
  }

  stop(): Promise<void> {
    return Promise.resolve()
  }

  follow(session: string, signal: AbortSignal) {
    return this.#sessions.follow(session, signal)
  }

  async ping(session: string, fencingToken: string): Promise<{ readonly highest: string }> {
    this.#sessions.heard(session)
    this.#hear(fencingToken)
    return { highest: String(this.#highest) }
  }

  async *records(): AsyncGenerator<HostRecord, void> {
    for (const { results: _, begun: __, spec, ...rest } of this.#ledgers.values()) {
      const exists = this.#vms.get(rest.vm)?.incarnation === rest.incarnation
      yield { ...rest, exists, ...(spec !== undefined && { spec: spec as VmSpec }) }
    }
    for (const { id: vm, incarnation } of this.#vms.values()) {
      if (this.#ledgers.has(vm)) continue
      const nothing = { highest: '0', task: '' as Ledger['task'] }
      yield { vm, incarnation, ...nothing, exists: true, lost: true }
    }
  }

  async arm(screen: { vm: VmId; boot: string; ticketHash: string }): Promise<void> {
    if (this.#vms.get(screen.vm)?.boot !== screen.boot) {
      throw new Fault('wrong-state', `VM ${screen.vm} is in another boot, or in none`)
    }
    this.#screens.arm(screen)
  }

  /** Named after the VM, so that a viewer sees which one it is. */
  async open(vm: VmId, ticket: string): Promise<Duplex> {
    const boot = this.#screens.redeem(vm, ticket)
    if (this.#vms.get(vm)?.boot !== boot) {
      throw new Fault('wrong-state', `VM ${vm} is in another boot, or in none`)
    }
    const screen = simulatedScreen({ name: vm, ...this.#paints })
    this.#shown.set(screen, { vm, boot })
    screen.once('close', () => this.#shown.delete(screen))
    return screen
  }

  viewersOf(id: VmId): number {
    return [...this.#shown.values()].filter(({ vm }) => vm === id).length
  }

  /** A screen ends with the boot that it shows. */
  #darken(): void {
    for (const [screen, { vm, boot }] of this.#shown) {
      if (this.#vms.get(vm)?.boot !== boot) screen.destroy()
    }
  }

  async takeScreenshot(vm: VmId, boot: string): Promise<Buffer> {
    if (this.#vms.get(vm)?.boot === boot) return DOT
    throw new Fault('wrong-state', `VM ${vm} is in another boot, or in none`)
  }

  /** The same in every step: a tenth of its CPUs, half of its memory, and some bytes. */
  async readUsage(id: VmId, window: UsageWindow): Promise<UsageSeries> {
    const vm = this.#vms.get(id)
    if (!vm) throw new Fault('gone', `there is no VM ${id}`)
    const none = noUsage(window, new Date(0))
    if (vm.power !== 'on') return none
    const always = (value: number) => Array.from({ length: window.points }, () => value)
    return {
      ...none,
      cpuPercent: always(10),
      memoryMB: always(vm.memoryMiB / 2),
      diskRead: always(1000),
      diskWrite: always(2000),
      netIn: always(300),
      netOut: always(400),
    }
  }

  async joinOverlay(join: OverlayJoin): Promise<void> {
    requireSwitch(this.#overlay)
    const before = this.#joined?.fencingToken ?? '0'
    if (BigInt(join.fencingToken) < BigInt(before)) {
      throw new Fault('stale', 'this host joined a newer network server', { detail: before })
    }
    this.#joined = join
  }

  get joined(): OverlayJoin | undefined {
    return this.#joined
  }

  changeOverlay(overlay: HostOverlay): void {
    this.#overlay = overlay
    this.#sessions.overlayChanged(overlay)
  }

  changePower(id: VmId, to: Vm['power']): void {
    this.#become(id, to)
    if (to === 'off') this.#stoppedByGuest.add(id)
    this.#sessions.changed(id)
  }

  keepSnapshot(id: VmId, name: string, on: boolean): void {
    this.#snapshots.set(id, { name, on })
  }

  crash(id: VmId): void {
    this.#become(id, 'off')
    this.#sessions.changed(id)
  }

  loseRecord(id: VmId): void {
    this.#ledgers.delete(id)
  }

  vanish(id: VmId): void {
    this.#ledgers.delete(id)
    this.#vms.delete(id)
    this.#darken()
    this.#sessions.changed(id)
  }

  reboot(): void {
    this.#boots += 1
    for (const [id, vm] of this.#vms) {
      if (vm.power === 'on' || vm.power === 'paused') {
        this.#vms.set(id, { ...vm, power: 'off', boot: null })
      }
    }
    this.#darken()
    this.#sessions = this.#newSessions()
  }

  #newSessions(): HostSessions {
    const shown = {
      hello: async () => ({
        version: 'simulated',
        boot: `kernel-${this.#boots}`,
        highest: String(this.#highest),
        cpus: 64,
        memoryMiB: 256 * 1024,
        diskMiB: 4 * 1024 * 1024,
        local: { cpus: 0, memoryMiB: 0 },
        ...this.#hello,
        overlay: this.#overlay,
      }),
      list: () => [...this.#vms.keys()],
      read: async (id: VmId) => this.#vms.get(id),
      stopped: async (id: VmId) =>
        this.#stoppedByGuest.has(id) ? ('by guest' as const) : undefined,
    }
    return new HostSessions(shown, { pingMs: this.#pingMs })
  }

  #snapshot(now: Vm | undefined, { vm: id }: Order, goal: SnapshotGoal): Vm {
    if (!now) throw new Fault('gone', `there is no VM ${id} on this host`)
    if (!ruleOf(goal)?.from.includes(now.power)) {
      throw new Fault('wrong-state', `VM ${id} is ${now.power}`, { detail: now.power })
    }
    const kept = this.#snapshots.get(id)
    if (goal.goal === 'noSnapshots') this.#snapshots.delete(id)
    if (goal.goal === 'snapshotted' && kept?.name !== goal.name) {
      this.#snapshots.set(id, { name: goal.name, on: goal.memory && now.power !== 'off' })
    }
    if (goal.goal !== 'reverted') return now
    if (kept?.name !== goal.name)
      throw new Fault('wrong-state', `there is no snapshot ${goal.name}`)
    return withPower(now, kept.on ? 'on' : 'off', () => this.#nextBoot())
  }

  #requireNics(now: Vm | undefined, before: VmSpec | undefined, { nics }: VmSpec): void {
    if (nics) requireSwitch(this.#overlay)
    if (!now || now.power === 'off' || nicChange(before?.nics, nics) !== 'cards') return
    throw new Fault('wrong-state', `VM ${now.id} is ${now.power}`, { detail: now.power })
  }

  #requireOff(id: VmId): void {
    const vm = this.#vms.get(id)
    if (!vm) throw new Fault('gone', `there is no VM ${id} on this host`)
    if (vm.power === 'off') return
    throw new Fault('wrong-state', `VM ${id} is ${vm.power}`, { detail: vm.power })
  }

  #become(id: VmId, to: Vm['power']): void {
    const vm = this.#vms.get(id)
    if (!vm) throw new Error(`there is no VM ${id}`)
    this.#stoppedByGuest.delete(id)
    this.#vms.set(
      id,
      withPower(vm, to, () => this.#nextBoot()),
    )
    this.#darken()
  }

  /** Deletes an earlier incarnation for an order of a later one, unless it runs. */
  #ofThisLife({ vm, incarnation }: Order): Vm | undefined {
    const now = this.#vms.get(vm)
    if (!now || now.incarnation === incarnation) return now
    if (now.boot !== null) throw new Fault('wrong-state', `VM ${vm} runs`, { detail: now.power })
    this.#vms.delete(vm)
    return undefined
  }

  #hear(fencingToken: string): void {
    if (BigInt(fencingToken) > this.#highest) this.#highest = BigInt(fencingToken)
  }

  #nextBoot(): string {
    this.#lives += 1
    return `kernel-${this.#boots}/${this.#lives}`
  }
}

function requireSwitch({ state }: HostOverlay): void {
  if (state === 'none') throw new Fault('wrong-state', 'this host has no Open vSwitch')
}

interface KeptSnapshot {
  readonly name: string
  /** With the memory of a running guest. */
  readonly on: boolean
}
