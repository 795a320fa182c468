// A host with simulated VMs, behind the real host API, whose process can be lost.
import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'

import { hostServer } from '@skerry/host-api'
import {
  simulatedHost,
  type SimulatedHost,
  type SimulatedHostOptions,
} from '@skerry/lab/simulated-host'
import type { HostId } from '@skerry/vm'

import { CLOUD, type Authority } from './authority.ts'

export interface ServedHost extends AsyncDisposable {
  readonly id: HostId
  readonly port: number
  readonly host: SimulatedHost
  /** Like a process that dies: every connection breaks, and there are no more responses. */
  die(): Promise<void>
}

export async function serveSimulated(
  authority: Authority,
  id: HostId,
  options: SimulatedHostOptions = {},
): Promise<ServedHost> {
  const host = simulatedHost(options)
  const shown = await authority.machine('host', id)
  const epochs = { highest: 0, raise: async () => undefined }
  const server = hostServer({ ...shown, ca: authority.control }, host, { cloud: CLOUD, epochs })
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const die = async () => {
    if (!server.listening) return
    const closed = once(server, 'close')
    server.close()
    for (const socket of sockets) socket.destroy()
    await closed
  }
  return { id, port, host, die, [Symbol.asyncDispose]: die }
}
