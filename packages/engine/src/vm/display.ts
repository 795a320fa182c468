import { open } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'

import { Fault } from '@skerry/fault'
import * as libvirt from '@skerry/libvirt'
import type { PowerState, Vm } from '@skerry/vm'

import { findRecord, findVm, readFacts } from '../domain/find-domain.ts'
import { readPowerOf } from '../domain/read-power.ts'
import { domainName } from '../host/definition.ts'
import type { Host } from '../host/host.ts'
import type { Owner } from '../host/owner.ts'
import { serialFile } from '../host/paths.ts'
import { toFault } from '../host/to-fault.ts'
import { readVm } from './vms.ts'

/** QEMU closes its display before libvirt notices that QEMU has exited. */
const ENDING_MS = 5000

/** The VNC Unix socket of this VM's QEMU; it accepts several clients at once. */
export async function displaySocket(host: Host, id: string, owner?: Owner): Promise<string> {
  const { dom } = await findVm(host, id, owner)
  await requireScreen(host, id, dom)
  const { vncSocket } = await readFacts(host, dom)
  if (vncSocket !== undefined) return vncSocket
  throw new Fault('unavailable', `VM ${id} has no display yet`, { hint: 'retry in a moment' })
}

/**
 * The state of a VM whose display connection has ended: its power state now, 'on' if it runs in another boot, or 'gone'.
 * Undefined if the VM is still in the same boot, so that only its display connection was lost.
 */
export async function readAfterBoot(
  host: Host,
  id: string,
  boot: string,
  owner: Owner = 'local',
): Promise<PowerState | 'gone' | undefined> {
  return host.changes.until(domainName({ owner, id }), ENDING_MS, async () => {
    const now = await readUnlessGone(host, id, owner)
    if (now === undefined) return 'gone'
    const isEnding = now.boot === null && (now.power === 'on' || now.power === 'paused')
    return now.boot === boot || isEnding ? undefined : now.power
  })
}

async function readUnlessGone(host: Host, id: string, owner: Owner): Promise<Vm | undefined> {
  try {
    return await readVm(host, id, owner)
  } catch (error) {
    if (error instanceof Fault && error.kind === 'not-found') return undefined
    throw error
  }
}

export interface Picture {
  readonly mediaType: string
  readonly bytes: Buffer
}

/** An image of the VM's display now. */
export async function takeScreenshot(host: Host, id: string, owner?: Owner): Promise<Picture> {
  const { dom } = await findVm(host, id, owner)
  await requireScreen(host, id, dom)
  const connection = await host.link.connection()
  try {
    const args = { dom, screen: 0, flags: 0 }
    const { ret, stream } = await connection.openStream(libvirt.domainScreenshot, args)
    const bytes = await buffer(stream)
    return { mediaType: ret.mime ?? 'application/octet-stream', bytes }
  } catch (error) {
    throw toFault(error)
  }
}

/** The end of the guest's serial port log. */
export async function readSerialLog(host: Host, id: string, bytesMax = 64 * 1024): Promise<string> {
  const file = serialFile(host.paths, findRecord(host, id))
  try {
    await using handle = await open(file, 'r')
    const { size } = await handle.stat()
    const length = Math.min(size, bytesMax)
    const { buffer: tail } = await handle.read(Buffer.alloc(length), 0, length, size - length)
    return tail.toString('utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw error
  }
}

async function requireScreen(host: Host, id: string, dom: libvirt.Domain): Promise<void> {
  const { power } = await readPowerOf(host, dom)
  if (power === 'on' || power === 'paused') return
  throw new Fault('conflict', `VM ${id} is ${power} and has no display`, {
    hint: `turn VM ${id} on`,
    state: power,
  })
}
