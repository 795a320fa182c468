import { connect as connectPlainly, type Socket } from 'node:net'
import { connect as connectByTls } from 'node:tls'

import { ConnectionLost } from './error.ts'

/** A Unix socket, or TLS with PEM texts: our key and certificate, and the certificates of those that may issue the server's. */
export type OvsdbAddress =
  | { readonly path: string }
  | {
      readonly host: string
      readonly port: number
      readonly key: string
      readonly cert: string
      readonly ca: string
    }

export const nameOf = (address: OvsdbAddress): string =>
  'path' in address ? address.path : `${address.host}:${address.port}`

/** Connects, or throws `ConnectionLost`. */
export async function connectTo(address: OvsdbAddress, timeoutMs: number): Promise<Socket> {
  const socket = 'path' in address ? connectPlainly(address.path) : connectWithCertificate(address)
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const timer = setTimeout(() => reject(new Error(`no answer in ${timeoutMs} ms`)), timeoutMs)
  socket.once('path' in address ? 'connect' : 'secureConnect', resolve)
  socket.on('error', reject)
  // A server may close without a word, in the middle of a handshake.
  const ended = () => reject(new Error('the server closed the connection'))
  socket.once('close', ended)
  try {
    await promise
  } catch (error) {
    socket.on('error', () => {})
    socket.destroy()
    const detail = error instanceof Error ? error.message : String(error)
    throw new ConnectionLost(`cannot connect to ${nameOf(address)}: ${detail}`, { cause: error })
  } finally {
    clearTimeout(timer)
    socket.off('error', reject)
    socket.off('close', ended)
  }
  return socket
}

function connectWithCertificate(address: Exclude<OvsdbAddress, { path: string }>): Socket {
  const { host, port, key, cert, ca } = address
  // Certificates of OVSDB name no host: the issuer alone decides.
  return connectByTls({ host, port, key, cert, ca, checkServerIdentity: () => undefined })
}
