import { constants } from 'node:fs'
import { access, readFile, stat, statfs } from 'node:fs/promises'
import { createConnection, type NetConnectOpts } from 'node:net'
import { delimiter, dirname, join } from 'node:path'

import type { World } from './command.ts'
import { Failure } from './failure.ts'
import { path } from './local-client.ts'

/** One point of the machine: how it is, and how to mend it where it is not well. */
export interface Finding {
  readonly check: string
  readonly state: 'ok' | 'warn' | 'fail'
  readonly found: string
  readonly mend?: string
}

/** Where to look; tests give a machine of their own. */
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

type Look = (world: Pick<World, 'api' | 'path'>, places: Places) => Promise<Finding>

/** Programs that are started while VMs are made and run; some lie where only root looks. */
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
        ? { check, state: 'fail', found: 'not found', mend: `sudo apt install ${from}` }
        : { check, state: 'ok', found }
    },
)

/** The file of a program, also where only root looks for programs. */
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
  if (why === undefined) return { check, state: 'ok', found: `answers at ${libvirtSocket}` }
  if (why === 'EACCES') {
    const found = `you may not open ${libvirtSocket}; vmd runs as root and may`
    return { check, state: 'warn', found, mend: 'look with all rights: sudo skerry doctor' }
  }
  return {
    check,
    state: 'fail',
    found: why === 'ENOENT' ? `there is no ${libvirtSocket}` : `${libvirtSocket}: ${why}`,
    mend: 'sudo apt install libvirt-daemon-system && sudo systemctl start libvirtd',
  }
}

const checkAcceleration: Look = async (_, { cpuinfo, kvm }) => {
  const check = 'acceleration'
  const flags = (await readFile(cpuinfo, 'utf8').catch(() => '')).match(/^flags\s*:(.*)$/m)?.[1]
  const found = 'guests run under emulation, which is slow'
  if (!/ (vmx|svm)( |$)/.test(flags ?? '')) {
    const mend = 'turn virtualisation (VT-x or AMD-V) on in the firmware, or nesting on in the host'
    return { check, state: 'warn', found: `${found}: the processor offers none`, mend }
  }
  if (await isThere(kvm, constants.F_OK)) {
    return { check, state: 'ok', found: `the processor offers it and ${kvm} is there` }
  }
  const mend = 'sudo modprobe kvm_intel, or kvm_amd'
  return { check, state: 'warn', found: `${found}: there is no ${kvm}`, mend }
}

const checkSpace: Look = async (_, { data }) => {
  const { bavail, bsize } = await statfs(await nearest(data))
  const free = bavail * bsize
  const found = `${(free / GIB).toFixed(1)} GiB free for ${data}`
  if (free >= LITTLE_BYTES) return { check: 'space', state: 'ok', found }
  const mend = 'skerry list, then skerry rm what is not needed; or add storage'
  return { check: 'space', state: free < TOO_LITTLE_BYTES ? 'fail' : 'warn', found, mend }
}

interface Health {
  readonly status: 'ok' | 'degraded'
  readonly reasons: readonly string[]
}

const checkDaemon: Look = async ({ api }) => {
  const check = 'vmd'
  try {
    const { body } = await api.ask<Health>('GET', path('health'))
    if (body.status === 'ok') return { check, state: 'ok', found: `answers at ${api.url}` }
    const found = `answers at ${api.url}, but something it stands on is missing`
    return { check, state: 'fail', found, mend: body.reasons.join('; ') }
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    const mend = error.reason === 'unreachable' ? 'sudo skerry vmd' : (error.hint ?? 'see its log')
    return { check, state: 'fail', found: error.message, mend }
  }
}

const checkTemplate: Look = async ({ api }) => {
  const check = 'template default'
  const mend = 'sudo skerry template build, or skerry template import FILE --default'
  try {
    const { body } = await api.ask<readonly { name: string }[]>('GET', path('templates'))
    return body.some(({ name }) => name === 'default')
      ? { check, state: 'ok', found: 'is there' }
      : { check, state: 'fail', found: 'there is none, and VMs are made from it', mend }
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return { check, state: 'warn', found: `not known: ${error.message}`, mend: 'sudo skerry vmd' }
  }
}

const checkNetwork: Look = async (_, { bridge }) =>
  (await isThere(bridge, constants.F_OK))
    ? { check: 'network skerry', state: 'ok', found: 'is active' }
    : {
        check: 'network skerry',
        state: 'fail',
        found: `there is no ${bridge}`,
        mend: 'sudo skerry vmd makes it; or, once it is made: sudo virsh net-start skerry',
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

/** Looks at every point; none of them changes anything. */
export async function examine(
  world: Pick<World, 'api' | 'path'>,
  places: Places,
): Promise<readonly Finding[]> {
  return Promise.all(checks.map(async (look) => look(world, places)))
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

/** The word of the system for why nobody answers there; undefined when somebody does. */
export async function whyNotConnected(to: NetConnectOpts): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>()
  const connection = createConnection(to)
  connection.once('connect', () => resolve(undefined))
  connection.once('timeout', () => resolve('ETIMEDOUT'))
  connection.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
  return promise.finally(() => connection.destroy())
}
