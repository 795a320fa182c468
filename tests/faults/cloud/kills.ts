// Kills processes, and restarts what is down, as the init of a machine does. There is no other intervention.
import { setTimeout as sleep } from 'node:timers/promises'

import { until, type LabServer, type SwitchDaemon } from '@skerry/lab'

import type { SeededRandom } from '../../../tools/lab/src/system/seeded-random.ts'
import { ovnProgramsOf, type OvnProgram } from '../../network/ovn-programs.ts'
import type { Place } from './place.ts'
import type { Life } from './qemu-watch.ts'
import { findAtWork, takeOver } from './takeover.ts'

export const killable = ['cell', 'vmd', 'libvirtd', 'qemu', 'postgres', 'temporal'] as const
/** Of a cloud with networks across hosts. */
export const networkKillable = [
  'network server',
  'northbound database',
  'southbound database',
  'northd',
  'controller',
  'switch',
] as const
export type Killable = (typeof killable)[number] | (typeof networkKillable)[number]

/** An init waits a little before it restarts what has died. */
const RESTART_MS = 1500
/** And it retries: Temporal exits at its start while Postgres is down. */
const UP_MS = 60_000
const FOUND_MS = 120_000

export interface Kill {
  readonly what: Killable
  readonly whose: string
  /** Milliseconds since 1970, as the database counts too. */
  readonly at: number
  /** cell: the time until another one continued its work. */
  readonly takenOverMs?: number
  /** qemu: the process. */
  readonly pid?: number
}

export class Killer {
  readonly kills: Kill[] = []
  readonly #place: Place
  readonly #chance: SeededRandom
  readonly #reviving = new Set<Promise<void>>()
  #broken: unknown
  /** The target must exist, or be at work: no one should wait for this kill. */
  isLooking = false

  constructor(place: Place, chance: SeededRandom) {
    this.#place = place
    this.#chance = chance
  }

  async kill(what: Killable): Promise<Kill> {
    const { whose, ...more } = await this.#ways[what]()
    const kill = { what, whose, at: Date.now(), ...more }
    this.kills.push(kill)
    return kill
  }

  /** The time when everything that was killed is up. */
  async allUp(): Promise<void> {
    while (this.#reviving.size > 0) await Promise.all(this.#reviving)
    this.check()
  }

  /** Fails if something that was killed did not come up again. */
  check(): void {
    if (this.#broken !== undefined) throw this.#broken
  }

  readonly #ways: Readonly<Record<Killable, () => Promise<Omit<Kill, 'what' | 'at'>>>> = {
    cell: async () => {
      // One fault at a time: this measures the time without this cell, not without all others.
      await this.allUp()
      const frozen = await this.#looking(() => findAtWork(this.#place, this.#chance))
      const takenOverMs = await takeOver(this.#place, frozen)
      this.#revive(() => frozen.cell.start())
      return { whose: frozen.cell.name, takenOverMs }
    },
    vmd: async () => {
      const host = this.#pick(this.#place.hosts)
      await host.killVmd()
      this.#revive(async () => void (await host.startVmd()))
      return { whose: host.name }
    },
    libvirtd: async () => {
      const host = this.#pick(this.#place.hosts)
      await host.killLibvirt()
      this.#revive(() => host.startLibvirt())
      return { whose: host.name }
    },
    qemu: async () => {
      const { pid, vm } = await this.#killQemu()
      return { whose: vm, pid }
    },
    postgres: async () => {
      const { postgres } = this.#place.cloud
      await this.#afterOwn('postgres', () => postgres.kill9())
      this.#revive(() => postgres.restart(), 'postgres')
      return { whose: 'postgres' }
    },
    temporal: async () => {
      const { temporal } = this.#place.cloud
      await this.#afterOwn('temporal', () => temporal.kill9())
      this.#revive(() => temporal.restart(), 'temporal')
      return { whose: 'temporal' }
    },
    'network server': async () => {
      const server = this.#networkServer()
      await this.#afterOwn(server.name, () => server.kill())
      this.#revive(() => server.start(), server.name)
      return { whose: server.name }
    },
    'northbound database': () => this.#killOvn('northbound'),
    'southbound database': () => this.#killOvn('southbound'),
    northd: () => this.#killOvn('northd'),
    controller: () => this.#killOfSwitch('ovn-controller'),
    switch: () => this.#killOfSwitch('ovs-vswitchd'),
  }

  /** The programs of a host's switch are started together. */
  async #killOfSwitch(daemon: SwitchDaemon): Promise<Omit<Kill, 'what' | 'at'>> {
    const host = this.#pick(this.#place.hosts)
    const name = `switch of ${host.name}`
    await this.#afterOwn(name, () => host.killSwitchDaemon(daemon))
    this.#revive(() => host.startSwitch(), name)
    return { whose: host.name }
  }

  #networkServer(): LabServer {
    const { network } = this.#place.cloud
    if (!network) throw new Error('this cloud has no network server')
    return network
  }

  /** Its server starts it again: no init knows it. */
  async #killOvn(program: OvnProgram): Promise<Omit<Kill, 'what' | 'at'>> {
    const server = this.#networkServer()
    await this.#own.get(server.name)
    const killed = () => {
      try {
        const pid = ovnProgramsOf(server.pid ?? 0)[program]
        return pid !== undefined && process.kill(pid, 'SIGKILL')
      } catch {
        // It ended while we looked.
        return false
      }
    }
    await this.#looking(() => until(`${program} runs`, killed, FOUND_MS))
    return { whose: program }
  }

  /** Temporal exits by itself if Postgres dies while it starts: an init restarts it, too. */
  keepUp(): AsyncDisposable {
    const { temporal } = this.#place.cloud
    const over = new AbortController()
    const { signal } = over
    const keep = async () => {
      while (!signal.aborted) {
        await sleep(RESTART_MS, undefined, { signal }).catch(() => undefined)
        await this.#own.get('temporal')
        if (!signal.aborted && !temporal.isRunning) this.#revive(() => temporal.start(), 'temporal')
      }
    }
    const keeping = keep()
    return {
      async [Symbol.asyncDispose]() {
        over.abort()
        await keeping
      },
    }
  }

  readonly #own = new Map<string, Promise<void>>()

  /** A process that is not up yet cannot be killed again. */
  async #afterOwn(name: string, kill: () => Promise<void>): Promise<void> {
    await this.#own.get(name)
    await kill()
  }

  #revive(start: () => Promise<void>, name?: string): void {
    const run = async () => {
      for (const began = performance.now(); ;) {
        await sleep(this.#chance.between(0, RESTART_MS))
        try {
          return await start()
        } catch (error) {
          if (performance.now() - began > UP_MS) throw error
        }
      }
    }
    const reviving = run().catch((error: unknown) => {
      this.#broken ??= error
    })
    this.#reviving.add(reviving)
    if (name !== undefined) this.#own.set(name, reviving)
    void reviving.finally(() => this.#reviving.delete(reviving))
  }

  /** Kills the QEMU of one of the cloud's VMs; waits if there is none now. */
  async #killQemu(): Promise<Life> {
    const kill = async () => {
      const rows = await this.#place.db.selectFrom('vm').select('id').execute()
      const ours = new Set<string>(rows.map(({ id }) => id))
      const [first, ...others] = this.#place.qemus.running().filter(({ vm }) => ours.has(vm))
      const life = first && this.#chance.pick([first, ...others])
      // It throws if a task has just ended it: then another one is looked for.
      if (life) process.kill(life.pid, 'SIGKILL')
      return life
    }
    const killed = () => kill().catch(() => undefined)
    return this.#looking(() => until('a guest runs', killed, FOUND_MS))
  }

  async #looking<T>(look: () => Promise<T>): Promise<T> {
    this.isLooking = true
    return look().finally(() => {
      this.isLooking = false
    })
  }

  #pick<T>(things: readonly T[]): T {
    return this.#chance.pick(things as readonly [T, ...T[]])
  }
}
