import { constants } from 'node:fs'
import { access, readFile, stat, statfs } from 'node:fs/promises'
import { createConnection, type NetConnectOpts } from 'node:net'
import { delimiter, dirname, join } from 'node:path'

import type { CliContext } from '../command.ts'
import { Failure } from '../terminal/failure.ts'
import { path } from '../vms/local-client.ts'

/** The result of one check of the machine, and how to fix a problem. */
export interface Finding {
  readonly check: string
  readonly state: 'ok' | 'warn' | 'fail'
  readonly found: string
  readonly fix?: string
}

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
  kvm: '/dev/kvm',
  data: '/var/lib/skerry',
  bridge: '/sys/class/net/skerry0',
}

type Look = (context: Pick<CliContext, 'api' | 'path'>, places: Places) => Promise<Finding>

/** Programs that vmd runs; some are outside of a normal user's PATH. */
const programs = [
  { name: 'qemu-system-x86_64', package: 'qemu-system-x86' },
  { name: 'qemu-img', package: 'qemu-utils' },
  { name: 'virtiofsd', package: 'qemu-system-common' },
  { name: 'dnsmasq', package: 'dnsmasq-base' },
  { name: 'mkfs.vfat', package: 'dosfstools' },
  { name: 'mcopy', package: 'mtools' },
] as const
const MORE_DIRECTORIES = ['/usr/sbin', '/sbin', '/usr/lib/qemu', '/usr/libexec']

const GIB = 1024 ** 3
const LITTLE_BYTES = 10 * GIB
const TOO_LITTLE_BYTES = GIB

const checkPrograms: readonly Look[] = programs.map(
  ({ name, package: from }) =>
    async ({ path }) => {
      const check = `program ${name}`
      const found = await findProgram(name, path)
      return found === undefined
        ? { check, state: 'fail', found: 'not found', fix: `sudo apt install ${from}` }
        : { check, state: 'ok', found }
    },
)

/** The path of a program, also in directories that only root has in its PATH. */
export async function findProgram(name: string, path: string): Promise<string | undefined> {
  const directories = [...path.split(delimiter), ...MORE_DIRECTORIES]
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

const checkAcceleration: Look = async (_, { cpuinfo, kvm }) => {
  const check = 'acceleration'
  const flags = (await readFile(cpuinfo, 'utf8').catch(() => '')).match(/^flags\s*:(.*)$/m)?.[1]
  const found = 'guests run emulated, which is slow'
  if (!/ (vmx|svm)( |$)/.test(flags ?? '')) {
    const fix =
      'enable virtualisation (VT-x or AMD-V) in the firmware, or nested virtualisation on the host'
    return { check, state: 'warn', found: `${found}: the CPU offers no virtualisation`, fix }
  }
  if (await isThere(kvm, constants.F_OK)) {
    return { check, state: 'ok', found: `supported by the CPU, and ${kvm} exists` }
  }
  const fix = 'sudo modprobe kvm_intel, or kvm_amd'
  return { check, state: 'warn', found: `${found}: there is no ${kvm}`, fix }
}

const checkSpace: Look = async (_, { data }) => {
  const { bavail, bsize } = await statfs(await nearest(data))
  const free = bavail * bsize
  const found = `${(free / GIB).toFixed(1)} GiB free for ${data}`
  if (free >= LITTLE_BYTES) return { check: 'space', state: 'ok', found }
  const fix = 'delete VMs that are not needed (skerry list, skerry rm VM), or add storage'
  return { check: 'space', state: free < TOO_LITTLE_BYTES ? 'fail' : 'warn', found, fix }
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
  const check = 'template default'
  const fix = 'sudo skerry template build, or skerry template import FILE --default'
  try {
    const { body } = await api.ask<readonly { name: string }[]>('GET', path('templates'))
    return body.some(({ name }) => name === 'default')
      ? { check, state: 'ok', found: 'exists' }
      : { check, state: 'fail', found: 'missing; new VMs are created from it', fix }
  } catch (error) {
    if (!(error instanceof Failure)) throw error
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
): Promise<readonly Finding[]> {
  return Promise.all(checks.map(async (look) => look(context, places)))
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
