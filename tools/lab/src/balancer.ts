// A TCP balancer before the cells: it looks at nothing that passes through, so TLS ends where it would end without it.
import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import { connect, createServer } from 'node:net'

/** Where a connection leads: a port, or a socket in the file system. */
export type Target = { readonly host: string; readonly port: number } | { readonly path: string }

export interface BalancerOptions {
  readonly targets: readonly Target[]
  /** A free one unless told. */
  readonly port?: number
  /** Where on loopback; 127.0.0.1 unless told. */
  readonly address?: string
  /** The file to listen at, instead of a port of loopback. */
  readonly path?: string
  /** How long a target may take to accept a connection before the next is tried. */
  readonly patienceMs?: number
}

export interface Balancer extends AsyncDisposable {
  readonly port: number
}

const PATIENCE_MS = 1_000

/** Listens and hands each connection to the next target that accepts one; the caller is cut off when none does. */
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

/** All targets, beginning with the one whose turn it is. */
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

/** An open connection to a target, or undefined when it refuses or is silent for too long. */
async function reach(target: Target, patienceMs: number): Promise<Socket | undefined> {
  const socket = connect({ ...target, allowHalfOpen: true })
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(patienceMs) })
    return socket
  } catch {
    // The error of a connection that is thrown away has nobody left to hear it.
    socket.on('error', () => undefined)
    socket.destroy()
    return undefined
  }
}

/** Two ends become one line: each side's end reaches the other, and a broken side breaks the other. */
function join(caller: Socket, cell: Socket): void {
  caller.pipe(cell)
  cell.pipe(caller)
  cell.on('error', () => cell.destroy())
  // One that ended in order may have said something that the other has not yet been given.
  cell.once('close', (broken) => (broken ? caller.destroy() : caller.destroySoon()))
  caller.once('close', (broken) => (broken ? cell.destroy() : cell.destroySoon()))
}
