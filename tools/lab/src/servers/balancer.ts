// A TCP load balancer for the cells. It does not inspect traffic, so TLS ends at the cells.
import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import { connect, createServer } from 'node:net'

/** The target of a connection: a port, or a socket in the file system. */
export type Target = { readonly host: string; readonly port: number } | { readonly path: string }

export interface BalancerOptions {
  readonly targets: readonly Target[]
  /** Default: a free one. */
  readonly port?: number
  /** The loopback address. Default: 127.0.0.1. */
  readonly address?: string
  /** The socket file to listen on, instead of a loopback port. */
  readonly path?: string
  /** How long a target may take to accept a connection before the next is tried. */
  readonly patienceMs?: number
}

export interface Balancer extends AsyncDisposable {
  readonly port: number
}

const PATIENCE_MS = 1_000

/** Passes each connection to the next target that accepts it; closes the connection if none does. */
export async function startBalancer(options: BalancerOptions): Promise<Balancer> {
  const { targets, path, port = 0, address = '127.0.0.1', patienceMs = PATIENCE_MS } = options
  const open = new Set<Socket>()
  let turn = 0
  const server = createServer({ allowHalfOpen: true }, (caller) => {
    open.add(caller)
    caller.once('close', () => open.delete(caller))
    caller.on('error', () => caller.destroy())
    void serve(caller, inTurn(targets, turn++), patienceMs)
  })
  server.listen(path === undefined ? { port, host: address } : { path })
  await once(server, 'listening')
  return {
    port: path === undefined ? (server.address() as AddressInfo).port : 0,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close')
      server.close()
      for (const socket of open) socket.destroy()
      await closed
    },
  }
}

/** All targets, starting with the next in turn. */
function inTurn(targets: readonly Target[], turn: number): Target[] {
  const first = targets.length === 0 ? 0 : turn % targets.length
  return [...targets.slice(first), ...targets.slice(0, first)]
}

async function serve(caller: Socket, order: readonly Target[], patienceMs: number): Promise<void> {
  for (const target of order) {
    const cell = await reach(target, patienceMs)
    if (cell === undefined) continue
    if (caller.destroyed) {
      cell.destroy()
      return
    }
    join(caller, cell)
    return
  }
  caller.destroy()
}

/** An open connection to a target, or undefined if it refuses or does not respond in time. */
async function reach(target: Target, patienceMs: number): Promise<Socket | undefined> {
  const socket = connect({ ...target, allowHalfOpen: true })
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(patienceMs) })
    return socket
  } catch {
    // No one handles an error of a discarded connection.
    socket.on('error', () => undefined)
    // After a pause of this process its timer ends before it learns that it is connected.
    await new Promise(setImmediate)
    if (!socket.connecting && !socket.destroyed) return socket
    socket.destroy()
    return undefined
  }
}

/** Joins two sockets: the end or failure of one side is passed to the other. */
function join(caller: Socket, cell: Socket): void {
  caller.pipe(cell)
  cell.pipe(caller)
  cell.on('error', () => cell.destroy())
  // A side that ended normally may have sent data that the other has not received yet.
  cell.once('close', (broken) => (broken ? caller.destroy() : caller.destroySoon()))
  caller.once('close', (broken) => (broken ? cell.destroy() : cell.destroySoon()))
}
