import { chmod, chown, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { Fault } from '@skerry/fault'
import type * as libvirt from '@skerry/libvirt'

import { agentAnswers, execInDomain } from './guest.ts'
import { checkHostPath } from './host-path.ts'
import type { Host } from './host.ts'
import { askMonitor } from './monitor.ts'
import { mountsBelow, removeEmpty, shareMounts, showAt, unmount } from './mounts.ts'
import { asideDirectory, pointsDirectory, sharesDirectory, sharesSocket } from './paths.ts'
import { readQemuUser } from './qemu-process.ts'
import type { VmRecord } from './record.ts'
import { startTool } from './tool.ts'

/**
 * A VM's shared folders are one virtiofs device, served by a virtiofsd of the VM's own. libvirt 9
 * dies when it plugs such a device, and QEMU 7.2 neither saves nor migrates a guest that has one;
 * so it stands in no definition, is plugged through QEMU's monitor while the guest runs, and is
 * unplugged around everything that moves the guest's memory. virtiofsd outlives this process and
 * ends by itself when QEMU lets go of its socket.
 */
const DEVICE = 'shares'
const VIRTIOFSD = '/usr/lib/qemu/virtiofsd'
const GUEST_DIRECTORY = '/mnt/shares'
const SOCKET_TIMEOUT_MS = 5000
const UNPLUG_TIMEOUT_MS = 15_000

/** Serves the VM's mappings and plugs them in; what already stands is left alone. */
export async function openShare(host: Host, record: VmRecord, dom: libvirt.Domain): Promise<void> {
  await showFolders(host, record)
  if (await isPlugged(host, dom)) {
    if ((await serverPid(host, record)) !== undefined) return mountInGuest(host, dom)
    await unplug(host, record, dom)
  }
  // A virtiofsd serves one connection and is of no use after it; an attempt that died may have left both.
  await removeConnection(host, dom)
  await endServer(host, record)
  await startServer(host, record, dom)
  const port = await freePort(host, dom)
  await askMonitor(host, dom, 'chardev-add', {
    id: DEVICE,
    backend: {
      type: 'socket',
      data: {
        addr: { type: 'unix', data: { path: sharesSocket(host.paths, record.id) } },
        server: false,
      },
    },
  })
  await askMonitor(host, dom, 'device_add', {
    driver: 'vhost-user-fs-pci',
    id: DEVICE,
    chardev: DEVICE,
    tag: DEVICE,
    bus: port,
  })
  await mountInGuest(host, dom)
}

/** Does something that no guest with a plugged share survives, and plugs it again where the guest goes on. */
export async function withoutShare<T>(
  host: Host,
  record: VmRecord,
  dom: libvirt.Domain,
  work: () => Promise<T>,
  after: 'gone' | 'goes on' = 'gone',
): Promise<T> {
  if (!(await hasShare(host, record, dom))) return work()
  await unplug(host, record, dom)
  let isGone = false
  try {
    const result = await work()
    isGone = after === 'gone'
    return result
  } finally {
    // The work is what was asked for; its folders follow as soon as they can.
    await (isGone ? closeShare(host, record) : openShare(host, record, dom)).catch(
      (error: unknown) => host.note(`the folders of VM ${record.id} lag behind`, error),
    )
  }
}

/** A guest that does not run cannot let go of a device. */
export async function requireUnshared(
  host: Host,
  record: VmRecord,
  dom: libvirt.Domain,
): Promise<void> {
  if (!(await hasShare(host, record, dom))) return
  throw new Fault('conflict', `VM ${record.id} is paused and has shared folders plugged in`, {
    hint: `unpause VM ${record.id} first`,
    state: 'paused',
  })
}

/** Takes away what is left of a share on the host once its guest no longer has it. */
export async function closeShare(
  host: Host,
  { id, owner }: Pick<VmRecord, 'id' | 'owner'>,
): Promise<void> {
  // The cloud shares no folders; what is there under this id is a laptop's.
  if (owner === 'cloud') return
  await endServer(host, { id })
  await hideFolders(host, id)
}

async function endServer(host: Host, { id }: Pick<VmRecord, 'id'>): Promise<void> {
  const pid = await serverPid(host, { id })
  if (pid !== undefined) await end(pid)
  const socket = sharesSocket(host.paths, id)
  for (const file of [socket, pidFile(socket), lockFile(socket)]) await rm(file, { force: true })
}

/** Sharing that was never turned on needs no question to QEMU. */
async function hasShare(host: Host, { sharing }: VmRecord, dom: libvirt.Domain): Promise<boolean> {
  return sharing && (await isPlugged(host, dom))
}

export async function isPlugged(host: Host, dom: libvirt.Domain): Promise<boolean> {
  const path = '/machine/peripheral'
  const devices = (await askMonitor(host, dom, 'qom-list', { path })) as { name: string }[]
  return devices.some(({ name }) => name === DEVICE)
}

/** Makes the mounts below the served directory be exactly the record's mappings. */
export async function showFolders(host: Host, { id, folders }: VmRecord): Promise<void> {
  const directory = sharesDirectory(host.paths, id)
  const points = pointsDirectory(host.paths, id)
  const aside = asideDirectory(host.paths)
  await shareMounts(points, directory, aside)
  const shown = new Set(await mountsBelow(directory))
  const wanted = new Set(folders.map(({ guestPath }) => guestPath))
  for (const name of await readdir(points)) {
    if (wanted.has(name)) continue
    await unmount(join(directory, name))
    await removeEmpty(join(points, name))
  }
  for (const { guestPath, hostPath, flags, uid } of folders) {
    const place = join(directory, guestPath)
    if (shown.has(place)) continue
    try {
      const source = await checkHostPath(host.paths, hostPath, uid)
      await mkdir(join(points, guestPath), { recursive: true, mode: 0o755 })
      await showAt(source, place, { aside, readOnly: flags === 0, owner: uid })
    } catch (error) {
      // One folder that was removed or renamed on the host must not take the others with it.
      host.note(`folder ${guestPath} of VM ${id} cannot be shown`, error)
    }
  }
}

async function hideFolders({ paths }: Host, id: VmRecord['id']): Promise<void> {
  const directory = sharesDirectory(paths, id)
  const points = pointsDirectory(paths, id)
  await unmount(directory)
  await removeEmpty(directory)
  for (const name of await readdir(points).catch(() => [])) await removeEmpty(join(points, name))
  await removeEmpty(points)
}

/** Makes the guest mount the share if its agent answers; if it does not, when it begins to. */
export async function mountInGuest(host: Host, dom: libvirt.Domain): Promise<void> {
  const script = `
    grep -q ' ${GUEST_DIRECTORY} virtiofs ' /proc/mounts && exit 0
    mkdir -p ${GUEST_DIRECTORY}
    for try in 1 2 3 4 5 6 7 8 9 10; do
      mount -t virtiofs ${DEVICE} ${GUEST_DIRECTORY} && exit 0
      sleep 0.2
    done
    exit 1`
  await inGuest(host, dom, script)
}

async function inGuest(host: Host, dom: libvirt.Domain, script: string): Promise<void> {
  if (!(await agentAnswers(host, dom))) return
  const { exitCode, stderr } = await execInDomain(host, dom, {
    path: '/bin/sh',
    args: ['-c', script],
  })
  if (exitCode !== 0) host.note(`the guest of ${dom.name} cannot mount its folders: ${stderr}`)
}

async function unplug(host: Host, record: VmRecord, dom: libvirt.Domain): Promise<void> {
  await inGuest(
    host,
    dom,
    `! grep -q ' ${GUEST_DIRECTORY} ' /proc/mounts || umount -l ${GUEST_DIRECTORY}`,
  )
  await askMonitor(host, dom, 'device_del', { id: DEVICE })
  const deadline = performance.now() + UNPLUG_TIMEOUT_MS
  // QEMU lets the character device go once the guest has let go of what stands on it.
  while (!(await removed(host, dom))) {
    if (performance.now() > deadline) {
      await mountInGuest(host, dom)
      throw new Fault('conflict', `the guest of VM ${record.id} does not let go of its folders`, {
        hint: 'wait until the guest has started, then ask again',
      })
    }
    await sleep(20)
  }
}

async function removed(host: Host, dom: libvirt.Domain): Promise<boolean> {
  if (await isPlugged(host, dom)) return false
  await removeConnection(host, dom)
  return true
}

async function removeConnection(host: Host, dom: libvirt.Domain): Promise<void> {
  const connections = (await askMonitor(host, dom, 'query-chardev')) as { label: string }[]
  if (!connections.some(({ label }) => label === DEVICE)) return
  await askMonitor(host, dom, 'chardev-remove', { id: DEVICE })
}

async function freePort(host: Host, dom: libvirt.Domain): Promise<string> {
  const [bus] = (await askMonitor(host, dom, 'query-pci')) as { devices: PciDevice[] }[]
  const port = bus?.devices.find(
    ({ qdev_id, pci_bridge }) =>
      qdev_id.startsWith('pci.') && pci_bridge && !pci_bridge.devices?.length,
  )
  if (port) return port.qdev_id
  throw new Fault('unavailable', `${dom.name} has no free slot for shared folders`, {
    hint: 'power the VM off and on again',
  })
}

interface PciDevice {
  readonly qdev_id: string
  readonly pci_bridge?: { readonly devices?: readonly unknown[] }
}

async function startServer(host: Host, { id }: VmRecord, dom: libvirt.Domain): Promise<void> {
  const { paths } = host
  const socket = sharesSocket(paths, id)
  await mkdir(dirname(socket), { recursive: true, mode: 0o711 })
  const pid = await startTool(VIRTIOFSD, [
    `--socket-path=${socket}`,
    ...['-o', `source=${sharesDirectory(paths, id)}`],
    ...['-o', 'cache=auto', '-o', 'sandbox=namespace'],
    // What a guest's root leaves in a folder must not give its owner more than he has: no devices, no capabilities.
    ...['-o', 'modcaps=-mknod:-setfcap'],
  ])
  await writeFile(pidFile(socket), String(pid))
  const deadline = performance.now() + SOCKET_TIMEOUT_MS
  while (!(await stat(socket).catch(() => undefined))) {
    if (performance.now() > deadline) throw new Fault('unavailable', `${VIRTIOFSD} did not start`)
    await sleep(10)
  }
  // Whoever connects has the folders: that is this VM's QEMU and nobody else.
  const { uid, gid } = await readQemuUser(host, dom.name)
  await chmod(socket, 0o600)
  await chown(socket, uid, gid)
}

const pidFile = (socket: string): string => `${socket}.pid`
/** Where virtiofsd keeps two of its kind from one socket; it leaves the file behind. */
const lockFile = (socket: string): string => `/run/virtiofsd/${socket.replaceAll('/', '.')}.pid`

/** The virtiofsd of this VM, if it is alive; a number alone may have been given to another process. */
async function serverPid(
  { paths }: Host,
  { id }: Pick<VmRecord, 'id'>,
): Promise<number | undefined> {
  const socket = sharesSocket(paths, id)
  const noted = await readFile(pidFile(socket), 'utf8').catch(() => '')
  if (await serves(noted, socket)) return Number(noted)
  if (!(await stat(socket).catch(() => undefined))) return undefined
  // Whoever started it died before the number was written down.
  for (const pid of await readdir('/proc')) if (await serves(pid, socket)) return Number(pid)
  return undefined
}

async function serves(pid: string, socket: string): Promise<boolean> {
  if (!/^\d+$/.test(pid)) return false
  const words = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
  return words.split('\0').includes(`--socket-path=${socket}`)
}

async function end(pid: number): Promise<void> {
  const gone = (): boolean => {
    try {
      process.kill(pid, 0)
      return false
    } catch {
      return true
    }
  }
  if (!gone()) process.kill(pid, 'SIGTERM')
  for (let round = 0; !gone(); round++) {
    if (round === 100) process.kill(pid, 'SIGKILL')
    await sleep(10)
  }
}
