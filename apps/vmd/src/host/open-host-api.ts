import { once } from 'node:events'
import { existsSync } from 'node:fs'
import type { Socket } from 'node:net'

import { removeUnfinished } from '@skerry/durable-file'
import {
  clearImages,
  cloudDirectory,
  dropImages,
  Orders,
  ordersDirectory,
  type Host,
} from '@skerry/engine'
import { hostServer } from '@skerry/host-api'
import { every } from '@skerry/service'

import { settleCertificate } from './certificate.ts'
import { makeHostApi } from './make-host-api.ts'
import { openEpochs, readMembership, type Membership } from './membership.ts'
import { pullImageFor } from './pull-image.ts'

/** How often unused images are removed. */
const DROP_MS = 3_600_000

export interface HostApiOptions {
  readonly address: string
  readonly port: number
  readonly version: string
  readonly log: (message: string, cause?: unknown) => void
}

export interface OpenHostApi extends AsyncDisposable {
  readonly port: number
  readonly membership: Membership
  /** Reloads certificate, key, issuers and cells; open connections continue. */
  renew(): Promise<void>
}

/** Opens the host API if this machine has joined a cloud; otherwise returns undefined. */
export async function openHostApi(
  host: Host,
  { address, port, version, log }: HostApiOptions,
): Promise<OpenHostApi | undefined> {
  const directory = cloudDirectory(host.paths)
  if (existsSync(directory)) await removeUnfinished(directory)
  await settleCertificate(directory)
  const joined = await readMembership(directory)
  if (!joined) return undefined
  let membership = joined
  const { cloud, identity } = joined
  await clearImages(host.paths)
  const orders = await Orders.open(ordersDirectory(host.paths))
  const ended = new AbortController()
  every(
    DROP_MS,
    ended.signal,
    () => dropImages(host),
    (error) => log('failed to remove unused images', error),
  )
  const pull = pullImageFor(host, () => membership)
  const api = makeHostApi({ host, orders, pull, version, signal: ended.signal })
  const server = hostServer(identity, api, { cloud, epochs: await openEpochs(directory), log })
  // An open screen no longer belongs to the HTTP server, but it must end with it.
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  server.listen(port, address)
  await once(server, 'listening')
  const bound = server.address()
  log(
    `vmd is host ${membership.host} of the cloud ${cloud} and listens for its cells at port ${port}`,
  )
  return {
    get membership() {
      return membership
    },
    async renew() {
      membership = (await readMembership(directory)) ?? membership
      const { key, cert, ca } = membership.identity
      server.setSecureContext({ key, cert, ca: typeof ca === 'string' ? ca : [...ca] })
    },
    port: typeof bound === 'object' && bound ? bound.port : port,
    async [Symbol.asyncDispose]() {
      ended.abort()
      const closed = once(server, 'close')
      server.close()
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}
