// A host of a move: its engine, which can be ended and restarted, and an inspection of the host from outside.
import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'

import { Fault } from '@skerry/fault'
import { until, type LabHost } from '@skerry/lab'
import * as libvirt from '@skerry/libvirt'

import { startEngine, type RemoteEngine } from '../guest/engine.ts'

export type Victim =
  | 'source engine'
  | 'source libvirtd'
  | 'target engine'
  | 'target libvirtd'
  | 'connection'

/** A moment of a move: around a call to the target, or once something is seen after it. */
export interface Break {
  readonly call: string
  readonly when: 'before' | 'after' | 'copying' | 'landed' | 'left'
  readonly victim: Victim
  readonly vm: string
}

const WAIT_MS = 60_000
/** Every move back needs a new incarnation. */
let lives = 1

export class MovePlace {
  readonly host: LabHost
  other!: MovePlace
  #engine: RemoteEngine | undefined
  #isCut = false
  #break: (Break & { readonly done: PromiseWithResolvers<void> }) | undefined

  constructor(host: LabHost) {
    this.host = host
  }

  get engine(): RemoteEngine {
    if (!this.#engine) throw new Fault('unavailable', `no engine runs on ${this.host.name}`)
    return this.#engine
  }

  async start(): Promise<void> {
    this.#engine = await startEngine(this.host, (call, args) => this.#carry(call, args))
  }

  async stop(): Promise<void> {
    await this.#engine?.[Symbol.asyncDispose]()
  }

  /** Everything that was ended runs again, and the connection is open. */
  async fix(): Promise<void> {
    this.#isCut = false
    await this.host.startLibvirt()
    if (!this.#engine) await this.start()
  }

  /** Resolves once it has been broken, and rejects if that failed. */
  breakAt(where: Break): Promise<void> {
    this.#break = { ...where, done: Promise.withResolvers<void>() }
    return this.#break.done.promise
  }

  /** Rejects the break if the move ended, in this way, before it came to that point. */
  requireBroken(moved: string): void {
    this.#break?.done.reject(new Error(`the move ended before it could be broken: ${moved}`))
    this.#break = undefined
  }

  /** A call of this host's engine to the other. */
  async #carry(call: string, args: readonly unknown[]): Promise<unknown> {
    const point = this.#break
    const isHere = point?.call === call
    if (isHere) this.#break = undefined
    if (point && isHere && point.when === 'before') await this.#breakNow(point)
    // A dead program sends nothing.
    if (!this.#engine) throw new Fault('unavailable', `no engine runs on ${this.host.name}`)
    this.#requireConnection()
    const functions = this.other.engine as unknown as Record<
      string,
      (...args: readonly unknown[]) => Promise<unknown>
    >
    const more = {
      makeReady: () => [String(++lives)],
      prepareArrival: () => [this.other.host.address],
    }[call]
    const answer = functions[call]?.(...args, ...(more?.() ?? []))
    answer?.catch(() => undefined)
    if (point && isHere && point.when === 'landed') {
      await until('the target has landed', () => seen(this.other.host, 'landed', args[0]), WAIT_MS)
      await this.#breakNow(point)
    }
    const value = await answer
    if (point && isHere && point.when === 'after') await this.#breakNow(point)
    if (point && isHere && point.when === 'copying') {
      void until('it is copied', () => copies(this.host, point.vm), WAIT_MS)
        .then(async () => {
          await this.#breakNow(point)
          await slowDown(this.host, point.vm, false)
        })
        .catch(point.done.reject)
    }
    if (point && isHere && point.when === 'left') {
      void until('it leaves', () => this.#leaves(point.vm), WAIT_MS)
        .then(() => this.#breakNow(point))
        .catch(point.done.reject)
    }
    this.#requireConnection()
    return value
  }

  async #leaves(vm: string): Promise<boolean> {
    return (await seen(this.host, 'left')) || !(await isThere(this.host, vm))
  }

  #requireConnection(): void {
    if (this.#isCut) throw new Fault('unavailable', 'the connection is cut')
  }

  async #breakNow({ victim, done }: Break & { readonly done: PromiseWithResolvers<void> }) {
    try {
      if (victim === 'connection') this.#isCut = true
      if (victim === 'source engine') await this.#end()
      if (victim === 'target engine') await this.other.#end()
      if (victim === 'source libvirtd') await restart(this.host)
      if (victim === 'target libvirtd') await restart(this.other.host)
      done.resolve()
    } catch (error) {
      done.reject(error)
      throw error
    }
  }

  async #end(): Promise<void> {
    const engine = this.#engine
    this.#engine = undefined
    await engine?.kill()
  }

  /** Whether the engine here has the VM. */
  async has(vm: string): Promise<boolean> {
    return (await this.engine.listVms()).some(({ id }) => id === vm)
  }

  async runs(vm: string): Promise<boolean> {
    return (await stateOf(this.host, vm)) === libvirt.DomainState.running
  }

  /** The number of QEMUs of the VM, regardless of libvirt. */
  async qemus(vm: string): Promise<number> {
    const processes = at(this.host, '/proc')
    const pids = (await readdir(processes)).filter((name) => /^\d+$/.test(name))
    const read = (pid: string) => readFile(`${processes}/${pid}/cmdline`, 'utf8').catch(() => '')
    const commands = (await Promise.all(pids.map(read))).map((text) => text.split('\0'))
    return commands.filter(
      ([program, ...words]) =>
        program?.includes('qemu-system') &&
        words.some((word) => word.startsWith(`guest=local-${vm},`)),
    ).length
  }

  async filesOf(vm: string): Promise<string[]> {
    const names = await readdir(at(this.host, '/var/lib/skerry/vms'))
    return names.filter((name) => name.startsWith(`${vm}.`))
  }
}

async function restart(host: LabHost): Promise<void> {
  await host.killLibvirt()
  await host.startLibvirt()
}

const at = (host: LabHost, path: string): string => `/proc/${host.init}/root${path}`

interface Written {
  readonly move: string
  readonly side: string
  readonly stage: string
}

/** The stages of a host's moves, as it has recorded them. */
async function stages(host: LabHost): Promise<Written[]> {
  const directory = at(host, '/var/lib/skerry/moves')
  const names = await readdir(directory).catch(() => [])
  // A temporary file is not in force yet: a program that dies before it renames the file has not decided.
  const whole = names.filter((name) => name.endsWith('.json'))
  const texts = whole.map((name) => readFile(`${directory}/${name}`, 'utf8').catch(() => ''))
  return (await Promise.all(texts))
    .filter((text) => text !== '')
    .map((text) => JSON.parse(text) as Written)
}

/** Answers to earlier moves are kept. */
async function seen(host: LabHost, stage: string, move?: unknown): Promise<boolean> {
  const all = await stages(host)
  return all.some((each) => each.stage === stage && (move === undefined || each.move === move))
}

/** The number of unfinished moves away from the host. */
export async function writtenDown(host: LabHost): Promise<number> {
  return (await stages(host)).filter(({ side }) => side === 'source').length
}

async function isThere(host: LabHost, vm: string): Promise<boolean> {
  const names = await readdir(at(host, '/var/lib/skerry/vms'))
  return names.includes(`${vm}.json`)
}

async function withDomain<T>(
  host: LabHost,
  vm: string,
  ask: (connection: libvirt.Connection, dom: libvirt.Domain) => Promise<T>,
): Promise<T | undefined> {
  try {
    await using connection = await libvirt.Connection.open({
      socket: host.libvirt.socket,
      uri: 'qemu:///system',
    })
    const { dom } = await connection.call(libvirt.domainLookupByName, { name: `local-${vm}` })
    return await ask(connection, dom)
  } catch {
    // No libvirtd, or no domain.
    return undefined
  }
}

function stateOf(host: LabHost, vm: string): Promise<number | undefined> {
  return withDomain(host, vm, async (connection, dom) => {
    const { state } = await connection.call(libvirt.domainGetState, { dom, flags: 0 })
    return state
  })
}

async function copies(host: LabHost, vm: string): Promise<boolean> {
  const type = await withDomain(host, vm, async (connection, dom) => {
    const info = await connection.call(libvirt.domainGetJobInfo, { dom })
    return info.memProcessed > 0n
  })
  return type ?? false
}

/** Makes a copy take seconds, so that a fault can hit the middle; or as fast as possible. The disk is copied first. */
export async function slowDown(host: LabHost, vm: string, isSlow: boolean): Promise<void> {
  await withDomain(host, vm, (connection, dom) =>
    connection.call(libvirt.domainMigrateSetMaxSpeed, {
      dom,
      bandwidth: isSlow ? 16n : 4096n,
      flags: 0,
    }),
  )
}

/** Watches both hosts continuously; counts how often the guest ran at both. */
export function watchBoth(
  source: LabHost,
  target: LabHost,
  vm: string,
): AsyncDisposable & { both(): number } {
  const ended = new AbortController()
  let count = 0
  const { running } = libvirt.DomainState
  const run = async () => {
    while (!ended.signal.aborted) {
      // The source never runs again once the target does, so it ran all the time.
      const looks = [
        await stateOf(source, vm),
        await stateOf(target, vm),
        await stateOf(source, vm),
      ]
      if (looks.every((state) => state === running)) count += 1
      await sleep(50)
    }
  }
  const watching = run()
  return {
    both: () => count,
    async [Symbol.asyncDispose]() {
      ended.abort()
      await watching
    },
  }
}
