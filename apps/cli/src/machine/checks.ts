import { constants } from 'node:fs'
import { access, readFile, stat, statfs } from 'node:fs/promises'
import { createConnection, type NetConnectOpts } from 'node:net'
import { delimiter, dirname, join } from 'node:path'

import {
  accelerationFinding,
  KVM,
  OVERLAY_CHECK,
  programDirectories,
  programFinding,
  requiredPrograms,
  spaceFinding,
  templateFinding,
  type MachineFinding,
} from '@skerry/vm'

import type { CliContext } from '../command.ts'
import { Failure } from '../terminal/failure.ts'
import { path } from '../vms/local-client.ts'

/** Paths to check; tests pass their own. */
export interface Places {
  readonly libvirtSocket: string
  readonly cpuinfo: string
  readonly kvm: string
  readonly data: string
  readonly bridge: string
}

export const machinePlaces: Places = {
  libvirtSocket: '/run/libvirt/libvirt-sock',
  cpuinfo: '/proc/cpuinfo',
  kvm: KVM,
  data: '/var/lib/skerry',
  bridge: '/sys/class/net/skerry0',
}

type Look = (context: Pick<CliContext, 'api' | 'path'>, places: Places) => Promise<MachineFinding>

const checkPrograms: readonly Look[] = requiredPrograms.map(
  (program) =>
    async ({ path }) =>
      programFinding(program, await findProgram(program.name, path)),
)

/** The path of a program, also in directories that only root has in its PATH. */
export async function findProgram(name: string, path: string): Promise<string | undefined> {
  const directories = [...path.split(delimiter), ...programDirectories]
  for (const directory of directories.filter((each) => each !== '')) {
    const file = join(directory, name)
    if (await isThere(file, constants.X_OK)) return file
  }
  return undefined
}

const checkLibvirt: Look = async (_, { libvirtSocket }) => {
  const check = 'libvirt'
  const why = await whyNotConnected({ path: libvirtSocket })
  if (why === undefined) return { check, state: 'ok', found: `listening at ${libvirtSocket}` }
  if (why === 'EACCES') {
    const found = `no permission to open ${libvirtSocket}; vmd runs as root and has it`
    return { check, state: 'warn', found, fix: 'check as root: sudo skerry doctor' }
  }
  return {
    check,
    state: 'fail',
    found: why === 'ENOENT' ? `there is no ${libvirtSocket}` : `${libvirtSocket}: ${why}`,
    fix: 'sudo apt install libvirt-daemon-system && sudo systemctl start libvirtd',
  }
}

const checkAcceleration: Look = async (_, { cpuinfo, kvm }) =>
  accelerationFinding(
    await readFile(cpuinfo, 'utf8').catch(() => ''),
    await isThere(kvm, constants.F_OK),
    kvm,
  )

const checkSpace: Look = async (_, { data }) => {
  const { bavail, bsize } = await statfs(await nearest(data))
  return spaceFinding(bavail * bsize, data)
}

interface Health {
  readonly status: 'ok' | 'degraded'
  readonly reasons: readonly string[]
}

const checkDaemon: Look = async ({ api }) => {
  const check = 'vmd'
  try {
    const { body } = await api.ask<Health>('GET', path('health'))
    if (body.status === 'ok') return { check, state: 'ok', found: `running at ${api.url}` }
    const found = `running at ${api.url}, but degraded`
    return { check, state: 'fail', found, fix: body.reasons.join('; ') }
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    const fix = error.reason === 'unreachable' ? 'sudo skerry vmd' : (error.hint ?? 'see its log')
    return { check, state: 'fail', found: error.message, fix }
  }
}

const checkTemplate: Look = async ({ api }) => {
  try {
    const { body } = await api.ask<readonly { name: string }[]>('GET', path('templates'))
    return templateFinding(body.some(({ name }) => name === 'default'))
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    const { check } = templateFinding(false)
    return { check, state: 'warn', found: `unknown: ${error.message}`, fix: 'sudo skerry vmd' }
  }
}

const checkNetwork: Look = async (_, { bridge }) =>
  (await isThere(bridge, constants.F_OK))
    ? { check: 'network skerry', state: 'ok', found: 'is active' }
    : {
        check: 'network skerry',
        state: 'fail',
        found: `there is no ${bridge}`,
        fix: 'sudo skerry vmd creates it; if it exists already: sudo virsh net-start skerry',
      }

interface MachineBody {
  readonly checks?: readonly MachineFinding[]
}

/** vmd looks at Open vSwitch, OVN's controller and the card of the tunnels. A machine without Open vSwitch has no such finding. */
async function checkOverlay({ api }: Pick<CliContext, 'api'>): Promise<readonly MachineFinding[]> {
  try {
    const { body } = await api.ask<MachineBody>('GET', path('machine'))
    return body.checks?.filter(({ check }) => check === OVERLAY_CHECK) ?? []
  } catch (error) {
    // Another check reports a vmd that does not answer.
    if (error instanceof Failure) return []
    throw error
  }
}

const checks: readonly Look[] = [
  ...checkPrograms,
  checkLibvirt,
  checkAcceleration,
  checkSpace,
  checkDaemon,
  checkNetwork,
  checkTemplate,
]

/** Runs all checks; they only read. */
export async function examine(
  context: Pick<CliContext, 'api' | 'path'>,
  places: Places,
): Promise<readonly MachineFinding[]> {
  const overlay = checkOverlay(context)
  const found = await Promise.all(checks.map(async (look) => look(context, places)))
  return [...found, ...(await overlay)]
}

async function isThere(file: string, mode: number): Promise<boolean> {
  return access(file, mode).then(
    () => true,
    () => false,
  )
}

async function nearest(directory: string): Promise<string> {
  const isDirectory = await stat(directory).then(
    (found) => found.isDirectory(),
    () => false,
  )
  return isDirectory || directory === '/' ? directory : nearest(dirname(directory))
}

/** The error code of a failed connection; undefined if it succeeds. */
export async function whyNotConnected(to: NetConnectOpts): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>()
  const connection = createConnection(to)
  connection.once('connect', () => resolve(undefined))
  connection.once('timeout', () => resolve('ETIMEDOUT'))
  connection.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
  return promise.finally(() => connection.destroy())
}
