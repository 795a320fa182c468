// A lab: hosts joined by a switch, kept in one directory. Tests and `npm run lab` use the same functions.
import { existsSync, realpathSync } from 'node:fs'
import { chmod, mkdir, readdir, readFile, rm, rmdir } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'

import { writeDurably } from '@skerry/durable-file'

import { CLOUD_DIRECTORIES } from './cloud/cloud-plan.ts'
import { reportCloud, startCloud, type CloudReport, type LabCloud } from './cloud/cloud.ts'
import { checkDirectory, shortNameOf, socketIn } from './host/host-directory.ts'
import type { LabHost } from './host/host.ts'
import { Host, sweep } from './host/host.ts'
import type { SwitchReport } from './host/open-vswitch.ts'
import type { VmdReport } from './host/vmd.ts'
import {
  addressOf,
  inNetworkNamed,
  makeSwitch,
  makeWorld,
  namesBeginning,
} from './network/netns.ts'
import { killEngines } from './servers/daemon.ts'
import { lockFile } from './system/lock-file.ts'
import { unmountBelow } from './system/mounts.ts'
import { requirePrograms } from './system/packages.ts'
import { attempt, type Outcome } from './system/run.ts'

/** The object that `npm run lab` prints. Other programs use these fields; absent parts have no key. */
export interface LabReport extends Partial<CloudReport> {
  readonly dir: string
  readonly hosts: readonly HostReport[]
}

export interface HostReport {
  readonly name: string
  readonly netns: string
  readonly dir: string
  /** The pid of the first process; absent if the host is off. */
  readonly init?: number
  readonly address: string
  /** Absent if libvirtd does not run. */
  readonly libvirt?: { readonly socket: string; readonly pid: number }
  /** Absent if vmd does not run. */
  readonly vmd?: VmdReport
  /** Absent if the lab has no network. */
  readonly openVswitch?: SwitchReport
}

export interface Lab extends AsyncDisposable {
  readonly dir: string
  /** The network namespace of the switch: every host's address is reachable from it. */
  readonly netns: string
  readonly hosts: LabHost[]
  /** Runs a program to its end outside of the cloud, at 198.51.100.1, if the lab has a network. */
  inWorld(command: readonly string[]): Promise<Outcome>
  /** The cloud that the hosts joined, if cells were requested. */
  readonly cloud?: LabCloud
}

/** Software on the hosts, besides libvirt. */
interface Wanted {
  readonly vmd?: boolean
  /** The number of cells of the cloud that the hosts join. Default: none. */
  readonly cells?: number
  /** Whether that cloud has consoles: two of them behind one address. */
  readonly console?: boolean
  /** The number of workflow servers: at most 2, each with its own database. Default: none. */
  readonly workflows?: number
  /** Whether its cells also serve the original API, at a separate address. */
  readonly original?: boolean
  /** Whether hosts have Open vSwitch and OVN's controller, and a card in the world, 198.51.100.0/24. */
  readonly network?: boolean
}

const CONSOLES = 2
/** Also the report that a killed `up` was writing. */
const OWN_FILES = /^host-\d+$|^lab\.json$|^\.lab\.json\.\d+\.tmp$/

/** Starts a lab for a test: it ends when disposed, and loses power when the test's process dies. */
export async function startLab(
  options: { readonly dir: string; readonly hosts: number } & Wanted,
): Promise<Lab> {
  const raised = await raise(options.dir, options.hosts, options, { outlives: false }).catch(
    async (error: unknown) => {
      // Running parts would keep the test's process from ending.
      await down(options.dir)
      throw error
    },
  )
  const { dir, hosts, cloud } = raised
  return {
    dir,
    netns: switchOf(dir),
    hosts,
    inWorld: (command) => attempt(inNetworkNamed(switchOf(dir), command)),
    ...(cloud && { cloud }),
    async [Symbol.asyncDispose]() {
      await down(dir)
    },
  }
}

/** Starts a lab that outlives this program; running parts are kept, hosts that are off are powered on. */
export async function up(
  directory: string,
  count: number,
  wanted: Wanted = {},
): Promise<LabReport> {
  const { dir, hosts } = await raise(directory, count, wanted, { outlives: true })
  return reportOn(dir, hosts)
}

export async function status(directory: string): Promise<LabReport> {
  const dir = pathOf(directory)
  return reportOn(dir, await hostsIn(dir, true))
}

export async function powerCut(directory: string, name: string): Promise<LabReport> {
  return withHost(directory, name, (host) => host.powerCut())
}

export async function powerOn(directory: string, name: string): Promise<LabReport> {
  return withHost(directory, name, (host) => host.powerOn())
}

/**
 * Removes every trace of a lab. It looks at the actual state, not at records, so it also removes a lab whose start was interrupted
 * or whose directory is missing.
 */
export async function down(directory: string): Promise<LabReport> {
  const dir = pathOf(directory)
  const below = (host: string) => dirname(host) === dir
  const clear = async () => {
    await killEngines(dir)
    // The switch's own name is among them.
    await sweep(below, await namesBeginning(switchOf(dir)))
  }
  if (!existsSync(dir)) {
    await clear()
    return { dir, hosts: [] }
  }

  {
    await using _ = await lockFile(join(dir, 'lab.lock'))
    await clear()
    await unmountBelow(dir)
    const ours = (await readdir(dir)).filter(
      (name) => OWN_FILES.test(name) || CLOUD_DIRECTORIES.test(name),
    )
    for (const name of ours) await rm(join(dir, name), { recursive: true, force: true })
  }
  await rm(join(dir, 'lab.lock'), { force: true })
  // Leave files of others in it alone.
  await rmdir(dir).catch(() => undefined)
  return { dir, hosts: [] }
}

async function raise(
  directory: string,
  count: number,
  wanted: Wanted,
  { outlives }: { outlives: boolean },
): Promise<{ dir: string; hosts: Host[]; cloud: LabCloud | undefined }> {
  const { vmd = false, cells = 0, console: screens = false, workflows = 0 } = wanted
  const { original = false, network = false } = wanted
  requirePrograms('host')
  if (network) requirePrograms('network')
  await mkdir(directory, { recursive: true })
  const dir = pathOf(directory)
  // PostgreSQL's user may traverse, but not list.
  await chmod(dir, 0o711)
  checkDirectory(join(dir, `host-${count}`))
  await using _ = await lockFile(join(dir, 'lab.lock'))
  const known = await knownHosts(dir)
  const names = new Set([...known, ...Array.from({ length: count }, (_, i) => `host-${i + 1}`)])
  const hosts = await makeHosts(dir, [...names], { outlives, network })
  await makeSwitch(switchOf(dir))
  if (network) await makeWorld(switchOf(dir))
  // Written before the start, so that a host that fails to start is known.
  await save(dir, hosts)
  const results = await Promise.allSettled(hosts.map((host) => host.powerOn()))
  await save(dir, hosts)
  const failed = results.find((result) => result.status === 'rejected')
  if (failed !== undefined) throw failed.reason
  if (vmd) await Promise.all(hosts.map((host) => host.startVmd()))
  const consoles = screens ? CONSOLES : 0
  const size = { cells, consoles, workflows, original, network }
  const started = { ...size, netns: switchOf(dir), outlives }
  const cloud = cells === 0 ? undefined : await startCloud(dir, hosts, started)
  await save(dir, hosts)
  return { dir, hosts, cloud }
}

async function withHost(
  directory: string,
  name: string,
  act: (host: Host) => Promise<void>,
): Promise<LabReport> {
  const dir = pathOf(directory)
  if (!existsSync(dir)) throw new Error(`no lab in ${dir}: start one with "up"`)
  await using _ = await lockFile(join(dir, 'lab.lock'))
  const hosts = await hostsIn(dir, true)
  const host = hosts.find((one) => one.name === name)
  if (host === undefined) {
    const there = hosts.map((one) => one.name).join(', ') || 'no host at all'
    throw new Error(`the lab in ${dir} has no "${name}"; it has ${there}`)
  }
  await act(host)
  await save(dir, hosts)
  return await reportOn(dir, hosts)
}

async function hostsIn(dir: string, outlives: boolean): Promise<Host[]> {
  return makeHosts(dir, await knownHosts(dir), { outlives })
}

async function makeHosts(
  dir: string,
  names: readonly string[],
  options: { readonly outlives: boolean; readonly network?: boolean },
): Promise<Host[]> {
  const addressFor = (name: string) => addressOf(Number(name.replace('host-', '')))
  const neighbours = Object.fromEntries(
    names.map((name) => [name, addressFor(name).replace(/\/.*/, '')]),
  )
  for (const name of names) await mkdir(join(dir, name), { recursive: true })
  return names.map(
    (name) =>
      new Host({
        dir: join(dir, name),
        name,
        address: addressFor(name),
        bridge: switchOf(dir),
        netns: `${switchOf(dir)}-${name}`,
        neighbours,
        ...options,
      }),
  )
}

async function knownHosts(dir: string): Promise<string[]> {
  try {
    const report = JSON.parse(await readFile(join(dir, 'lab.json'), 'utf8')) as LabReport
    return report.hosts.map(({ name }) => name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw new Error(`${join(dir, 'lab.json')} cannot be read; take the lab down and start again`, {
      cause: error,
    })
  }
}

async function save(dir: string, hosts: readonly Host[]): Promise<void> {
  const report = await reportOn(dir, hosts)
  // Only its owner may read it: it contains passwords.
  await writeDurably(join(dir, 'lab.json'), JSON.stringify(report, null, 2) + '\n')
}

async function reportOn(dir: string, hosts: readonly Host[]): Promise<LabReport> {
  return { dir, hosts: hosts.map(reportOf), ...(await reportCloud(dir)) }
}

function reportOf(host: Host): HostReport {
  const pid = host.libvirtPid()
  return {
    name: host.name,
    netns: host.netns,
    dir: host.dir,
    ...(host.isOn && { init: host.init }),
    address: host.address ?? '',
    ...(pid !== undefined && { libvirt: { socket: socketIn(host.dir), pid } }),
    ...(host.vmd && { vmd: host.vmd }),
    ...(host.openVswitch && { openVswitch: host.openVswitch }),
  }
}

function switchOf(dir: string): string {
  return `skerry-${shortNameOf(dir)}`
}

function pathOf(directory: string): string {
  return existsSync(directory) ? realpathSync(directory) : resolve(directory)
}
