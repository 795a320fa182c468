import { chmod, chown, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { Fault } from '@skerry/fault'
import type * as libvirt from '@skerry/libvirt'

import { askMonitor } from '../domain/monitor.ts'
import { readQemuUser } from '../domain/qemu-process.ts'
import { agentAnswers, execInDomain } from '../guest/guest.ts'
import { mayAnswerLater } from '../host/agent-lines.ts'
import type { Host } from '../host/host.ts'
import { asideDirectory, pointsDirectory, sharesDirectory, sharesSocket } from '../host/paths.ts'
import {
  makeDirectory,
  PASSABLE_DIRECTORY,
  PRIVATE_FILE,
  PUBLIC_DIRECTORY,
} from '../host/private-files.ts'
import type { VmRecord } from '../host/record.ts'
import { startTool } from '../host/tool.ts'
import { checkHostPath } from './host-path.ts'
import { mountsBelow, removeEmpty, shareMounts, showAt, unmount } from './mounts.ts'

/**
 * A VM's shared folders are one virtiofs device, served by its own virtiofsd. libvirt 9 crashes when
 * it plugs in such a device, and QEMU 7.2 can neither save nor migrate a guest that has one. So the
 * device is in no definition: it is plugged in through QEMU's monitor while the guest runs, and
 * unplugged around every operation on the guest's memory. virtiofsd outlives this process and exits
 * when QEMU closes its socket.
 */
const DEVICE = 'shares'
const VIRTIOFSD = '/usr/lib/qemu/virtiofsd'
const GUEST_DIRECTORY = '/mnt/shares'
/** A virtiofsd that has ended is noticed at once; only one that hangs is noticed this late. */
const SOCKET_TIMEOUT_MS = 60_000
/** The kernel's `__SO_ACCEPTCON`. */
const ACCEPTS_CONNECTIONS = '00010000'
const UNPLUG_TIMEOUT_MS = 15_000
/** For how long a slow agent is asked again to mount; as long as a resumed one may take to answer. */
const ASK_AGAIN_MS = 60_000

/** Serves the VM's mappings and plugs them in; existing parts are left alone. */
export async function openShare(host: Host, record: VmRecord, dom: libvirt.Domain): Promise<void> {
  await showFolders(host, record)
  if (await isPlugged(host, dom)) {
    if ((await serverPid(host, record)) !== undefined) return mountInGuest(host, record, dom)
    await unplug(host, record, dom)
  }
  // A virtiofsd serves one connection only; a crashed attempt may have left both behind.
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
  await mountInGuest(host, record, dom)
}

/** Does work that no guest with a plugged share survives, and plugs it in again if the guest continues. */
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
    // The work has priority; the folders follow as soon as possible.
    await (isGone ? closeShare(host, record) : openShare(host, record, dom)).catch(
      (error: unknown) => host.log(`failed to update the shared folders of VM ${record.id}`, error),
    )
  }
}

/** A guest that does not run cannot release a device. */
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

/** Removes the host's side of a share once the guest no longer has it. */
export async function closeShare(
  host: Host,
  { id, owner }: Pick<VmRecord, 'id' | 'owner'>,
): Promise<void> {
  // The cloud shares no folders; a share with this id belongs to a local VM.
  if (owner === 'cloud') return
  await endServer(host, { id })
  await hideFolders(host, id)
}

async function endServer(host: Host, { id }: Pick<VmRecord, 'id'>): Promise<void> {
  const pid = await serverPid(host, { id })
  if (pid !== undefined) await endProcess(pid)
  const socket = sharesSocket(host.paths, id)
  for (const file of [socket, pidFile(socket), lockFile(socket)]) await rm(file, { force: true })
}

/** If sharing was never turned on, QEMU need not be asked. */
async function hasShare(host: Host, { sharing }: VmRecord, dom: libvirt.Domain): Promise<boolean> {
  return sharing && (await isPlugged(host, dom))
}

export async function isPlugged(host: Host, dom: libvirt.Domain): Promise<boolean> {
  const path = '/machine/peripheral'
  const devices = (await askMonitor(host, dom, 'qom-list', { path })) as { name: string }[]
  return devices.some(({ name }) => name === DEVICE)
}

/** Makes the mounts below the served directory match the record's mappings exactly. */
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
      await makeDirectory(join(points, guestPath), PUBLIC_DIRECTORY)
      await showAt(source, place, { aside, readOnly: flags === 0, owner: uid })
    } catch (error) {
      // A folder that was removed or renamed on the host must not affect the others.
      host.log(`failed to share folder ${guestPath} with VM ${id}`, error)
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

/** VMs whose guests are asked again to mount, by host. */
const asked = new WeakMap<Host, Set<string>>()

/** Mounts the share in the guest if its agent answers; otherwise that happens when the agent starts. */
async function mountInGuest(host: Host, { id }: VmRecord, dom: libvirt.Domain): Promise<void> {
  // A mount whose device was unplugged meanwhile stays in the list, and reads nothing.
  const script = `
    if grep -q ' ${GUEST_DIRECTORY} virtiofs ' /proc/mounts; then
      ls ${GUEST_DIRECTORY} >/dev/null && exit 0
      umount -l ${GUEST_DIRECTORY}
    fi
    mkdir -p ${GUEST_DIRECTORY}
    for try in 1 2 3 4 5 6 7 8 9 10; do
      mount -t virtiofs ${DEVICE} ${GUEST_DIRECTORY} && exit 0
      sleep 0.2
    done
    exit 1`
  if ((await inGuest(host, dom, script)) !== 'silent') return
  const others = asked.get(host) ?? new Set()
  asked.set(host, others)
  if (others.has(id)) return
  others.add(id)
  // An agent that is slow does not start again, so no event follows.
  const again = host.changes.until(dom.name, ASK_AGAIN_MS, async () => {
    if (!host.link.isOpen) return 'lost'
    if (!(await agentAnswers(host, dom))) return undefined
    const mount = async () =>
      (await isPlugged(host, dom).catch(() => false))
        ? inGuest(host, dom, script)
        : ('done' as const)
    return (await host.locks.run(id, mount)) === 'silent' ? undefined : 'done'
  })
  again
    .catch((error: unknown) =>
      host.log(`failed to mount the shared folders of VM ${id} in its guest`, error),
    )
    .finally(() => others.delete(id))
}

/**
 * Runs a script in the guest if its agent answers. The result does not decide what the host does: some systems ship an agent
 * that runs no programs. 'silent': the agent may answer later.
 */
async function inGuest(
  host: Host,
  dom: libvirt.Domain,
  script: string,
): Promise<'done' | 'silent'> {
  let began = performance.now()
  try {
    await host.agents.ask(dom, 'guest-ping')
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    return mayAnswerLater(error, began) ? 'silent' : 'done'
  }
  try {
    began = performance.now()
    const { exitCode, stderr } = await execInDomain(host, dom, {
      path: '/bin/sh',
      args: ['-c', script],
    })
    if (exitCode !== 0)
      host.log(`the guest of ${dom.name} failed to mount its shared folders: ${stderr}`)
    return 'done'
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    host.log(`the guest of ${dom.name} ran no script for its shared folders`, error)
    return mayAnswerLater(error, began) ? 'silent' : 'done'
  }
}

async function unplug(host: Host, record: VmRecord, dom: libvirt.Domain): Promise<void> {
  await inGuest(
    host,
    dom,
    `! grep -q ' ${GUEST_DIRECTORY} ' /proc/mounts || umount -l ${GUEST_DIRECTORY}`,
  )
  await askMonitor(host, dom, 'device_del', { id: DEVICE })
  const deadline = performance.now() + UNPLUG_TIMEOUT_MS
  // QEMU releases the character device once the guest has released the device that uses it.
  while (!(await removed(host, dom))) {
    if (performance.now() > deadline) {
      await mountInGuest(host, record, dom)
      throw new Fault(
        'conflict',
        `the guest of VM ${record.id} does not release its shared folders`,
        {
          hint: 'wait until the guest has started, then retry',
        },
      )
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
  await makeDirectory(dirname(socket), PASSABLE_DIRECTORY)
  const pid = await startTool(VIRTIOFSD, [
    `--socket-path=${socket}`,
    '-o',
    `source=${sharesDirectory(paths, id)}`,
    '-o',
    'cache=auto',
    '-o',
    'sandbox=namespace',
    // Files created by a guest's root must not give the folder's owner new privileges: no devices, no capabilities.
    '-o',
    'modcaps=-mknod:-setfcap',
  ])
  await writeFile(pidFile(socket), String(pid), { mode: PRIVATE_FILE })
  const deadline = performance.now() + SOCKET_TIMEOUT_MS
  while (!(await isListening(socket))) {
    if (performance.now() > deadline || !(await serves(String(pid), socket)))
      throw new Fault('unavailable', `${VIRTIOFSD} did not start`)
    await sleep(10)
  }
  // A client of the socket has the folders, so only this VM's QEMU may connect.
  const { uid, gid } = await readQemuUser(host, dom.name)
  await chmod(socket, 0o600)
  await chown(socket, uid, gid)
}

/** The name of a socket exists before it accepts connections, and virtiofsd accepts one only: none can be made to find out. */
async function isListening(socket: string): Promise<boolean> {
  const sockets = (await readFile('/proc/net/unix', 'utf8')).split('\n')
  return sockets.some((line) => {
    const [, , , flags, , , , path] = line.trim().split(/\s+/)
    return path === socket && flags === ACCEPTS_CONNECTIONS
  })
}

const pidFile = (socket: string): string => `${socket}.pid`
/** virtiofsd's lock against two servers on one socket; it leaves the file behind. */
const lockFile = (socket: string): string => `/run/virtiofsd/${socket.replaceAll('/', '.')}.pid`

/** The process id of this VM's virtiofsd, if it is alive; a pid alone may belong to another process by now. */
async function serverPid(
  { paths }: Host,
  { id }: Pick<VmRecord, 'id'>,
): Promise<number | undefined> {
  const socket = sharesSocket(paths, id)
  const noted = await readFile(pidFile(socket), 'utf8').catch(() => '')
  if (await serves(noted, socket)) return Number(noted)
  if (!(await stat(socket).catch(() => undefined))) return undefined
  // The process that started it died before it wrote the pid file.
  for (const pid of await readdir('/proc')) if (await serves(pid, socket)) return Number(pid)
  return undefined
}

async function serves(pid: string, socket: string): Promise<boolean> {
  if (!/^\d+$/.test(pid)) return false
  const words = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
  return words.split('\0').includes(`--socket-path=${socket}`)
}

async function endProcess(pid: number): Promise<void> {
  // It may end by itself at any moment, so a signal that finds no process is its end.
  const reaches = (signal: NodeJS.Signals | 0): boolean => {
    try {
      return process.kill(pid, signal)
    } catch {
      return false
    }
  }
  let isThere = reaches('SIGTERM')
  for (let round = 0; isThere; round++) {
    await sleep(10)
    isThere = reaches(round === 100 ? 'SIGKILL' : 0)
  }
}
