import { connect, createServer, type NetConnectOpts, type Socket } from 'node:net'

type Direction = 'toServer' | 'toClient'

/** A Unix socket whose connections go on to a server, in pieces, and are read along the way. */
export interface Relay extends AsyncDisposable {
  readonly path: string
  /** Resolves once this text was sent that often. */
  sent(direction: Direction, text: string, times?: number): Promise<void>
}

/** `cut` is the length of the next piece. Default: pieces as they come. */
export async function startRelay(
  path: string,
  target: NetConnectOpts,
  cut?: () => number,
): Promise<Relay> {
  const texts: Record<Direction, string> = { toServer: '', toClient: '' }
  const checks = new Set<() => void>()
  const sockets = new Set<Socket>()
  const join = (from: Socket, to: Socket, direction: Direction) => {
    sockets.add(from)
    from.setNoDelay?.(true)
    from.on('data', (chunk: Buffer) => {
      texts[direction] += chunk.toString('latin1')
      for (const check of checks) check()
      for (let at = 0; at < chunk.length;) {
        const end = cut === undefined ? chunk.length : at + cut()
        to.write(chunk.subarray(at, end))
        at = end
      }
    })
    from.on('close', () => to.destroy())
    from.on('error', () => {})
  }
  const server = createServer((client) => {
    const onward = connect(target)
    join(client, onward, 'toServer')
    join(onward, client, 'toClient')
  })
  await new Promise<void>((resolve) => void server.listen(path, resolve))
  return {
    path,
    sent: (direction, text, times = 1) =>
      new Promise((resolve) => {
        const check = () => {
          if (texts[direction].split(text).length <= times) return
          checks.delete(check)
          resolve()
        }
        checks.add(check)
        check()
      }),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise<void>((resolve) => void server.close(() => resolve()))
    },
  }
}
