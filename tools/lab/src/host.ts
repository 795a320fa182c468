// A hypervisor host made of namespaces: network, mounts, processes and name of its own, with a libvirtd of its own.
import type { ChildProcess, SpawnOptions } from 'node:child_process'
import { readFileSync, realpathSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'

import { keepCapabilities, lendCapabilities } from './capabilities.ts'
import { checkDirectory, prepareDirectory, shortNameOf, socketIn } from './host-directory.ts'
import { spawnInside } from './inside.ts'
import { libvirtAnswers } from './libvirt-answers.ts'
import { forgetDeadHosts, forgetNetwork, nameNetwork, networkNamed, plug, unplug } from './netns.ts'
import { requirePrograms } from './packages.ts'
import {
  findInNetworks,
  findMarked,
  fromInside,
  isAlive,
  isFirst,
  killAndWait,
  nameOf,
  namespaceOf,
  signalTo,
} from './processes.ts'
import { startReaper } from './reaper.ts'
import type { Outcome } from './run.ts'
import { outcomeOf } from './run.ts'
import { killVmd, readVmd, startVmd, wantsVmd, wantVmd, type VmdReport } from './vmd.ts'
import { until } from './wait.ts'

const LIBVIRT_TIMEOUT_MS = 30_000
const SIMPLE_ENVIRONMENT = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  HOME: '/root',
  LC_ALL: 'C.UTF-8',
}

export interface HostOptions {
  /** Where the host's disks are: definitions, images, logs. What is in it survives a power cut, except `run`. */
  readonly dir: string
  /** The host's name, at most 15 characters; `host-1` unless told. */
  readonly name?: string
  /** Its address with the prefix length, such as 10.91.0.1/16; needs a switch. */
  readonly address?: string
  /** The network namespace that holds the lab's switch. */
  readonly bridge?: string
  /** The name of its network namespace; derived from the directory unless told. */
  readonly netns?: string
  /** Names and addresses of the other hosts, for /etc/hosts. */
  readonly neighbours?: Readonly<Record<string, string>>
  /** Whether the host goes on when this program ends; otherwise it loses power with it. */
  readonly outlives?: boolean
}

export interface LabHost extends AsyncDisposable {
  readonly name: string
  readonly netns: string
  readonly dir: string
  /** The address alone, without prefix length. */
  readonly address?: string
  /** The pid of the first process now, in the machine's numbering. */
  readonly init: number
  /** libvirtd's pid now, in the machine's numbering. */
  readonly libvirt: { readonly socket: string; readonly pid: number }
  /** Starts a program on the host. The child's pid and kill are the program's own. It dies with the host. It begins in / unless told. */
  spawn(command: readonly string[], options?: SpawnOptions): ChildProcess
  /** Runs a program on the host to its end, whatever its exit code. */
  run(command: readonly string[], options?: SpawnOptions): Promise<Outcome>
  killLibvirt(signal?: NodeJS.Signals): Promise<void>
  /** Starts libvirtd when it does not run, and waits until it answers. */
  startLibvirt(): Promise<void>
  /** Our daemon on the host, while it runs. */
  readonly vmd: VmdReport | undefined
  /** Starts vmd, now and whenever the host is switched on, with these words or those it had before. */
  startVmd(words?: readonly string[]): Promise<VmdReport>
  killVmd(signal?: NodeJS.Signals): Promise<void>
  /** Every process on the host dies at once; its network is gone. What is on disk stays. */
  powerCut(): Promise<void>
  powerOn(): Promise<void>
}

/** Starts a host and answers once its libvirtd does. */
export async function startHost(options: HostOptions): Promise<LabHost> {
  requirePrograms('host')
  await mkdir(options.dir, { recursive: true })
  const host = new Host(options)
  await host.powerOn()
  return host
}

/** A host that may be running or not, from another program perhaps. */
export class Host implements LabHost {
  readonly name: string
  readonly netns: string
  readonly dir: string
  readonly address?: string
  readonly #options: HostOptions
  #init: number | undefined

  constructor(options: HostOptions) {
    this.dir = realpathSync(options.dir)
    checkDirectory(this.dir)
    this.name = options.name ?? 'host-1'
    if (!/^[a-z][a-z0-9-]{0,14}$/.test(this.name)) {
      throw new Error(`"${this.name}" cannot be a host's name: use up to 15 of a-z, 0-9 and "-"`)
    }
    if ((options.address === undefined) !== (options.bridge === undefined)) {
      throw new Error(`${this.name} needs both an address and a bridge, or neither`)
    }
    this.netns = options.netns ?? `skerry-${shortNameOf(this.dir)}-${this.name}`
    if (options.address !== undefined) this.address = options.address.replace(/\/.*/, '')
    this.#options = options
  }

  get isOn(): boolean {
    return this.#findInit() !== undefined
  }

  get init(): number {
    const init = this.#findInit()
    if (init === undefined) throw new Error(`${this.name} is off: switch it on first`)
    return init
  }

  get libvirt(): { socket: string; pid: number } {
    const pid = this.libvirtPid()
    if (pid === undefined) throw new Error(`no libvirtd runs on ${this.name}: start it first`)
    return { socket: socketIn(this.dir), pid }
  }

  libvirtPid(): number | undefined {
    const init = this.#findInit()
    if (init === undefined) return undefined
    let inside: number
    try {
      inside = Number(readFileSync(join(this.dir, 'run', 'libvirtd.pid'), 'utf8'))
    } catch {
      return undefined
    }
    const pid = fromInside(init, inside)
    // The file outlives a killed libvirtd, and its number may be somebody else's by now.
    return pid !== undefined && nameOf(pid) === 'libvirtd' && isAlive(pid) ? pid : undefined
  }

  spawn(command: readonly string[], options: SpawnOptions = {}): ChildProcess {
    return spawnInside(this.init, command, options)
  }

  async run(command: readonly string[], options: SpawnOptions = {}): Promise<Outcome> {
    return outcomeOf(this.spawn(command, { stdio: ['ignore', 'pipe', 'pipe'], ...options }))
  }

  async killLibvirt(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const pid = this.libvirtPid()
    if (pid !== undefined) await killAndWait([pid], signal)
  }

  async startLibvirt(): Promise<void> {
    if (this.libvirtPid() === undefined) await this.#daemon(['libvirtd', '--daemon'])
    const socket = socketIn(this.dir)
    const log = join(this.dir, 'log', 'libvirtd.log')
    await until(
      `libvirtd of ${this.name} should answer; see ${log}`,
      () => libvirtAnswers(socket),
      LIBVIRT_TIMEOUT_MS,
    )
  }

  get vmd(): VmdReport | undefined {
    return readVmd(this)
  }

  async startVmd(words?: readonly string[]): Promise<VmdReport> {
    await wantVmd(this, words)
    return startVmd(this)
  }

  async killVmd(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    await killVmd(this, signal)
  }

  async powerOn(): Promise<void> {
    if (this.isOn) return this.startLibvirt()
    // What a power cut of another kind left, such as a kill by hand, would be in the way.
    await this.powerCut()
    await forgetDeadHosts()
    const { neighbours = {}, address, bridge, outlives = false } = this.#options
    const own = this.address === undefined ? {} : { [this.name]: this.address }
    await prepareDirectory(this.dir, { ...own, ...neighbours })
    try {
      this.#init = await startReaper({ dir: this.dir, name: this.name, outlives })
      await nameNetwork(this.netns, this.#init)
      if (address !== undefined && bridge !== undefined) {
        await plug({ name: this.name, netns: this.netns, address }, bridge)
      }
      await lendCapabilities(this.dir)
      await this.#daemon(['virtlogd', '--daemon'])
      await this.startLibvirt()
      if (wantsVmd(this)) await startVmd(this)
    } catch (error) {
      await this.powerCut()
      throw error
    }
  }

  async powerCut(): Promise<void> {
    // First of all: a machine without power says no farewell, and dying processes would.
    if (this.#options.bridge !== undefined) await unplug(this.name, this.#options.bridge)
    await sweep((directory) => directory === this.dir, [this.netns])
    this.#init = undefined
    await keepCapabilities(this.dir)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.powerCut()
  }

  #findInit(): number | undefined {
    if (this.#init !== undefined && isAlive(this.#init)) return this.#init
    this.#init = findMarked((directory) => directory === this.dir).find(isFirst)
    return this.#init
  }

  async #daemon(command: readonly string[]): Promise<void> {
    const { code, stderr } = await this.run(command, { env: SIMPLE_ENVIRONMENT })
    if (code === 0) return
    throw new Error(
      `${command[0]} did not start on ${this.name}: ${stderr.trim() || `code ${code}`}`,
    )
  }
}

/**
 * Ends the first processes of hosts and all that lived with them, waits until they are gone, and takes the names of their
 * networks away. What was never there, or is gone already, is no error.
 */
export async function sweep(
  accepts: (hostDirectory: string) => boolean,
  netns: readonly string[],
): Promise<void> {
  const marked = findMarked(accepts)
  const networks = new Set([
    ...netns.map(networkNamed),
    ...marked.filter(isFirst).map((pid) => namespaceOf(pid, 'net')),
  ])
  // A first process ends only after all others of its host were reaped, some of them by a parent outside that may be stopped.
  await killAndWait(marked, 'SIGKILL', () => {
    for (const pid of findInNetworks(networks)) signalTo(pid, 'SIGCONT')
  })
  // Whoever entered the host's network from outside would keep it alive, and may have been starting others while we looked.
  for (let pids = findInNetworks(networks); pids.length > 0; pids = findInNetworks(networks)) {
    await killAndWait(pids)
  }
  for (const name of netns) await forgetNetwork(name)
}
