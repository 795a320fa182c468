import type { Duplex } from 'node:stream'

import { readVm, takeScreenshot, type Host } from '@skerry/engine'
import { Fault } from '@skerry/fault'
import type { VmId } from '@skerry/vm'

import { connectDisplay } from '../guests/connect-display.ts'

/** Throws unless the VM is in this boot: a ticket is valid for one boot. */
export async function requireBoot(host: Host, vm: VmId, boot: string): Promise<void> {
  const now = await readVm(host, vm, 'cloud')
  if (now.boot === boot) return
  throw new Fault('wrong-state', `VM ${vm} is ${now.power}, in another boot or in none`, {
    detail: now.power,
  })
}

/** The display of this boot as a stream of bytes; QEMU closes it when the boot ends. */
export async function openScreen(
  host: Host,
  vm: VmId,
  boot: string,
  signal: AbortSignal,
): Promise<Duplex> {
  const socket = await connectDisplay(host, vm, 'cloud', signal)
  try {
    // The socket's name depends only on the VM: check the boot after connecting.
    await requireBoot(host, vm, boot)
    return socket
  } catch (error) {
    socket.destroy()
    throw error
  }
}

/** The current display of this boot, as PNG. */
export async function pictureOf(host: Host, vm: VmId, boot: string): Promise<Buffer> {
  const { mediaType, bytes } = await takeScreenshot(host, vm, 'cloud')
  // Check the boot after taking the picture.
  await requireBoot(host, vm, boot)
  if (mediaType === 'image/png') return bytes
  throw new Fault('unavailable', `QEMU on this host creates ${mediaType}, not PNG`, {
    hint: 'install QEMU 7.1 and libvirt 8.8 or newer on the host',
  })
}
