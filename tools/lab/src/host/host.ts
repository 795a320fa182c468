// A hypervisor host made of namespaces: its own network, mounts, processes, shared memory and host name, with its own libvirtd.
import type { ChildProcess, SpawnOptions } from 'node:child_process'
import { realpathSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'

import {
  forgetDeadHosts,
  forgetNetwork,
  nameNetwork,
  networkNamed,
  plug,
  plugIntoWorld,
  unplug,
  unplugFromWorld,
} from '../network/netns.ts'
import { requirePrograms } from '../system/packages.ts'
import {
  findInNetworks,
  findMarked,
  isAlive,
  isFirst,
  killAndWait,
  namespaceOf,
  signalTo,
} from '../system/processes.ts'
import type { Outcome } from '../system/run.ts'
import { outcomeOf } from '../system/run.ts'
import { until } from '../system/wait.ts'
import { keepCapabilities, lendCapabilities } from './capabilities.ts'
import { checkDirectory, prepareDirectory, shortNameOf, socketIn } from './host-directory.ts'
import { spawnInside } from './inside.ts'
import { libvirtAnswers } from './libvirt-answers.ts'
import {
  hasSwitch,
  killSwitchDaemon,
  readSwitch,
  startSwitch,
  wantSwitch,
  type SwitchDaemon,
  type SwitchReport,
} from './open-vswitch.ts'
import { pidOfDaemon } from './pid-file.ts'
import { startReaper } from './reaper.ts'
import { killVmd, readVmd, startVmd, wantsVmd, wantVmd, type VmdReport } from './vmd.ts'

const LIBVIRT_TIMEOUT_MS = 120_000
/** The arguments of vmd on a host with Open vSwitch: its second card leads to the world. */
const UPLINKS = ['--uplink', 'world=eth1']
const SIMPLE_ENVIRONMENT = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  HOME: '/root',
  LC_ALL: 'C.UTF-8',
}

export interface HostOptions {
  /** The host's disks: definitions, images, logs. The content survives a power cut, except `run`. */
  readonly dir: string
  /** The host's name, at most 15 characters. Default: `host-1`. */
  readonly name?: string
  /** Its address with the prefix length, such as 10.91.0.1/16; needs a switch. */
  readonly address?: string
  /** The network namespace of the lab's switch. */
  readonly bridge?: string
  /** The name of its network namespace. Default: derived from the directory. */
  readonly netns?: string
  /** Names and addresses of the other hosts, for /etc/hosts. */
  readonly neighbours?: Readonly<Record<string, string>>
  /** Whether the host keeps running when this program ends; otherwise it loses power with it. */
  readonly outlives?: boolean
  /** Whether it has Open vSwitch and OVN's controller, from its first start on. */
  readonly network?: boolean
}

export interface LabHost extends AsyncDisposable {
  readonly name: string
  readonly netns: string
  readonly dir: string
  /** The address without prefix length. */
  readonly address?: string
  /** The current pid of the first process, as the machine sees it. */
  readonly init: number
  /** The current pid of libvirtd, as the machine sees it. */
  readonly libvirt: { readonly socket: string; readonly pid: number }
  /** Starts a program on the host. The child's pid and kill are the program's own. It dies with the host. Default directory: /. */
  spawn(command: readonly string[], options?: SpawnOptions): ChildProcess
  /** Runs a program on the host to its end, with any exit code. */
  run(command: readonly string[], options?: SpawnOptions): Promise<Outcome>
  killLibvirt(signal?: NodeJS.Signals): Promise<void>
  /** Starts libvirtd if it does not run, and waits until it responds. */
  startLibvirt(): Promise<void>
  /** Our daemon on the host, while it runs. */
  readonly vmd: VmdReport | undefined
  /** Starts vmd, now and whenever the host is powered on, with these arguments or its previous ones. */
  startVmd(words?: readonly string[]): Promise<VmdReport>
  killVmd(signal?: NodeJS.Signals): Promise<void>
  /** Its Open vSwitch and OVN's controller; undefined if it has none or is off. */
  readonly openVswitch: SwitchReport | undefined
  killSwitchDaemon(name: SwitchDaemon, signal?: NodeJS.Signals): Promise<void>
  /** Starts the daemons of the switch that do not run. */
  startSwitch(): Promise<void>
  /** Kills every process on the host at once and removes its network. The disks stay. */
  powerCut(): Promise<void>
  powerOn(): Promise<void>
}

/** Starts a host and returns once its libvirtd responds. */
export async function startHost(options: HostOptions): Promise<LabHost> {
  requirePrograms('host')
  if (options.network) requirePrograms('network')
  await mkdir(options.dir, { recursive: true })
  const host = new Host(options)
  await host.powerOn()
  return host
}

/** A host that may or may not be running, possibly started by another program. */
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
      throw new Error(`"${this.name}" is not a valid host name: use up to 15 of a-z, 0-9 and "-"`)
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
    if (init === undefined) throw new Error(`${this.name} is off: power it on first`)
    return init
  }

  get libvirt(): { socket: string; pid: number } {
    const pid = this.libvirtPid()
    if (pid === undefined) throw new Error(`no libvirtd runs on ${this.name}: start it first`)
    return { socket: socketIn(this.dir), pid }
  }

  libvirtPid(): number | undefined {
    return this.isOn ? pidOfDaemon(this, 'libvirtd.pid', 'libvirtd') : undefined
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
    const first = hasSwitch(this) ? UPLINKS : undefined
    await wantVmd(this, words ?? (wantsVmd(this) ? undefined : first))
    return startVmd(this)
  }

  async killVmd(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    await killVmd(this, signal)
  }

  get openVswitch(): SwitchReport | undefined {
    return this.isOn && hasSwitch(this) ? readSwitch(this) : undefined
  }

  async killSwitchDaemon(name: SwitchDaemon, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    await killSwitchDaemon(this, name, signal)
  }

  async startSwitch(): Promise<void> {
    if (hasSwitch(this)) await startSwitch(this, this.#options.address)
  }

  async powerOn(): Promise<void> {
    if (this.isOn) return this.#continue()
    // Remove what another kind of power cut left, such as a manual kill.
    await this.powerCut()
    await forgetDeadHosts()
    const { neighbours = {}, address, bridge, outlives = false } = this.#options
    // As on a Debian machine: libvirt resolves its own host name whenever it restores or migrates a guest.
    const own = { [this.name]: this.address ?? '127.0.1.1' }
    await prepareDirectory(this.dir, { ...own, ...neighbours })
    if (this.#options.network) await wantSwitch(this)
    try {
      this.#init = await startReaper({ dir: this.dir, name: this.name, outlives })
      await nameNetwork(this.netns, this.#init)
      if (address !== undefined && bridge !== undefined) {
        const plugged = { name: this.name, netns: this.netns, address }
        await plug(plugged, bridge)
        if (hasSwitch(this)) await plugIntoWorld(plugged, bridge)
      }
      await this.startSwitch()
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
    // First of all: a machine that loses power sends nothing, but dying processes would.
    const { bridge } = this.#options
    if (bridge !== undefined) {
      await unplug(this.name, bridge)
      if (hasSwitch(this)) await unplugFromWorld(this.name, bridge)
    }
    await sweep((directory) => directory === this.dir, [this.netns])
    this.#init = undefined
    await keepCapabilities(this.dir)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.powerCut()
  }

  /** Starts what does not run on a host that is on. */
  async #continue(): Promise<void> {
    if (this.#options.network && !hasSwitch(this)) {
      throw new Error(`${this.name} was started without a network: take it down and start again`)
    }
    await this.startSwitch()
    await this.startLibvirt()
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
 * Kills the first processes of hosts and everything in their namespaces, waits until they are gone, and removes the names of their
 * networks. Missing ones are ignored.
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
  // A first process ends only after all others of its host were reaped, some by a parent outside that may be stopped.
  await killAndWait(marked, 'SIGKILL', () => {
    for (const pid of findInNetworks(networks)) signalTo(pid, 'SIGCONT')
  })
  // Processes that entered the host's network from outside would keep it alive, and may have started others while we looked.
  for (let pids = findInNetworks(networks); pids.length > 0; pids = findInNetworks(networks)) {
    await killAndWait(pids)
  }
  for (const name of netns) await forgetNetwork(name)
}
