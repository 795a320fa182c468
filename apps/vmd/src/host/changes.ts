import { readFile, statfs } from 'node:fs/promises'
import { availableParallelism, totalmem } from 'node:os'

import { onChange, readVm, stoppedByGuest, vmIds, type Host } from '@skerry/engine'
import { Fault } from '@skerry/fault'
import { HostSessions, type Hello } from '@skerry/host-api'
import type { Vm, VmId } from '@skerry/vm'

/** Events can be lost with their connection, so everything is checked again at this interval. */
const SCAN_MS = 60_000
const MIB = 1024 ** 2

/** Reports changes of the cloud's VMs to the cloud, from libvirt's events and by polling. */
export function openSessions(
  host: Host,
  { version, highest }: { readonly version: string; readonly highest: () => string },
  signal: AbortSignal,
): HostSessions {
  const sessions = new HostSessions({
    hello: () => sayHello(host, version, highest()),
    list: () => vmIds(host, 'cloud'),
    read: (id) => readUnlessGone(host, id),
    stopped: async (id) => ((await stoppedByGuest(host, id, 'cloud')) ? 'by guest' : undefined),
    log: (message, cause) => host.log(message, cause),
  })
  const listening = onChange(host, 'cloud', (id) => sessions.changed(id))
  const watching = host.overlay.listen((overlay) => sessions.overlayChanged(overlay))
  const timer = setInterval(() => sessions.changed(), SCAN_MS)
  timer.unref()
  signal.addEventListener('abort', () => {
    listening[Symbol.dispose]()
    watching[Symbol.dispose]()
    clearInterval(timer)
  })
  return sessions
}

/** A VM is gone if our own record is gone; an error of libvirt does not mean that. */
export async function readUnlessGone(host: Host, id: VmId): Promise<Vm | undefined> {
  try {
    return await readVm(host, id, 'cloud')
  } catch (error) {
    if (error instanceof Fault && error.kind === 'not-found') {
      if (host.records.get(id, 'cloud')?.phase !== 'there') return undefined
    }
    throw error
  }
}

async function sayHello(host: Host, version: string, highest: string): Promise<Hello> {
  const [boot, { blocks, bsize }, local] = await Promise.all([
    readFile('/proc/sys/kernel/random/boot_id', 'utf8'),
    statfs(host.paths.data),
    localUse(host),
  ])
  return {
    version,
    boot: boot.trim(),
    highest,
    local,
    cpus: availableParallelism(),
    memoryMiB: Math.floor(totalmem() / MIB),
    diskMiB: Math.floor((blocks * bsize) / MIB),
    overlay: host.overlay.now,
  }
}

async function localUse(host: Host): Promise<Hello['local']> {
  let [cpus, memoryMiB] = [0, 0]
  for (const id of vmIds(host, 'local')) {
    const vm = await readVm(host, id).catch((error: unknown) => {
      host.log(`failed to read VM ${id}, its resources are not counted`, error)
    })
    cpus += vm?.cpus ?? 0
    memoryMiB += vm?.memoryMiB ?? 0
  }
  return { cpus, memoryMiB }
}
