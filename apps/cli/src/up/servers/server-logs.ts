import type { Socket } from 'node:net'
import { join } from 'node:path'

import { startReader } from '../../machine/child.ts'
import type { Server, ServerName } from '../site/site.ts'

const PROGRAM = join(import.meta.dirname, 'log-writer.ts')
const MIB = 1024 ** 2
/** Maximum size of the current file; the previous one is kept beside it. */
const LOG_BYTES = 10 * MIB

/** The logs of servers: one process writes the logs of all servers started together, and exits with the last of them. */
export class ServerLogs {
  readonly #servers: readonly Server[]
  readonly #unused = new Map<ServerName, Socket>()

  constructor(servers: readonly Server[]) {
    this.#servers = servers
  }

  /** The output socket of a server that is about to start. */
  of({ name }: Pick<Server, 'name'>): Socket {
    const known = this.#unused.get(name)
    if (known && !known.destroyed) {
      this.#unused.delete(name)
      return known
    }
    const files = this.#servers.map(({ log }) => log)
    const command = [process.execPath, PROGRAM, String(LOG_BYTES), ...files]
    const sockets = startReader(command, files.length)
    for (const old of this.#unused.values()) old.destroy()
    for (const [at, server] of this.#servers.entries()) {
      const socket = sockets[at]
      if (socket) this.#unused.set(server.name, socket)
    }
    return this.of({ name })
  }
}
