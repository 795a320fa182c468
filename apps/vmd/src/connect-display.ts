import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

import { displaySocket, type Host, type Owner } from '@skerry/engine'
import { Fault } from '@skerry/fault'

/** A connection to where QEMU shows this VM's screen; QEMU ends it together with the boot. */
export async function connectDisplay(
  host: Host,
  vm: string,
  owner: Owner,
  signal: AbortSignal,
): Promise<Socket> {
  const socket = connect(await displaySocket(host, vm, owner))
  // It may break off before somebody relays it; 'close' follows.
  socket.on('error', () => undefined)
  try {
    await once(socket, 'connect', { signal })
    return socket
  } catch (cause) {
    socket.destroy()
    throw new Fault('unavailable', `VM ${vm} shows no screen now`, { cause, hint: 'ask again' })
  }
}
