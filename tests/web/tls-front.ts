// HTTPS for a listener without it: the cookie of a page needs it, and the tests of the API listen without.
import { once } from 'node:events'
import { connect, type AddressInfo } from 'node:net'
import { createServer } from 'node:tls'

import { startIssuer } from '@skerry/lab'

export interface TlsFront extends Disposable {
  readonly port: number
}

/** Passes everything on to this port of the machine. */
export async function startTlsFront(behind: number): Promise<TlsFront> {
  await using issuer = await startIssuer('public')
  const server = createServer({ ...(await issuer.issue('DNS:cloud.example')) }, (socket) => {
    const inside = connect(behind, '127.0.0.1')
    socket.on('error', () => inside.destroy()).pipe(inside)
    inside.on('error', () => socket.destroy()).pipe(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.dispose]: () => void server.close(),
  }
}
