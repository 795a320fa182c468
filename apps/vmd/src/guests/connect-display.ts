import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

import { displaySocket, type Host, type Owner } from '@skerry/engine'
import { Fault } from '@skerry/fault'

/** A connection to the VNC socket of this VM's QEMU; QEMU closes it when the boot ends. */
export async function connectDisplay(
  host: Host,
  vm: string,
  owner: Owner,
  signal: AbortSignal,
): Promise<Socket> {
  const socket = connect(await displaySocket(host, vm, owner))
  // It may break before it is relayed; 'close' follows.
  socket.on('error', () => undefined)
  try {
    await once(socket, 'connect', { signal })
    return socket
  } catch (cause) {
    socket.destroy()
    throw new Fault('unavailable', `VM ${vm} has no display now`, {
      cause,
      hint: 'retry in a moment',
    })
  }
}
