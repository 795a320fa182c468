import type { Duplex } from 'node:stream'

import { readVm, takeScreenshot, type Host } from '@skerry/engine'
import { Fault } from '@skerry/fault'
import type { VmId } from '@skerry/vm'

import { connectDisplay } from '../connect-display.ts'

/** Throws unless the VM is in this boot: a ticket is for one life of a screen. */
export async function requireBoot(host: Host, vm: VmId, boot: string): Promise<void> {
  const now = await readVm(host, vm, 'cloud')
  if (now.boot === boot) return
  throw new Fault('wrong-state', `VM ${vm} is ${now.power}, in another boot or in none`, {
    detail: now.power,
  })
}

/** The screen of this boot as a stream of bytes; QEMU ends it together with the boot. */
export async function openScreen(
  host: Host,
  vm: VmId,
  boot: string,
  signal: AbortSignal,
): Promise<Duplex> {
  const socket = await connectDisplay(host, vm, 'cloud', signal)
  try {
    // The socket's name is the VM's: only now is it known whose screen it is.
    await requireBoot(host, vm, boot)
    return socket
  } catch (error) {
    socket.destroy()
    throw error
  }
}

/** What is on the screen of this boot now, as PNG. */
export async function pictureOf(host: Host, vm: VmId, boot: string): Promise<Buffer> {
  const { mediaType, bytes } = await takeScreenshot(host, vm, 'cloud')
  // Only now is it known whose screen it was.
  await requireBoot(host, vm, boot)
  if (mediaType === 'image/png') return bytes
  throw new Fault('unavailable', `this host’s QEMU draws ${mediaType}, not PNG`, {
    hint: 'QEMU 7.1 and libvirt 8.8 or newer are needed on the host',
  })
}
