// Our relay as in a console process: a viewer's TLS on one side, a host's TLS on the other, and nothing else.
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:tls'

import { handshakeBounds, relay, screenServer } from '@skerry/screen'

const { key, cert, target } = JSON.parse(process.argv[2] ?? '{}') as {
  readonly key: string
  readonly cert: string
  readonly target: number
}
const screens = screenServer()
const { signal } = new AbortController()
const server = createServer({ ...handshakeBounds, key, cert, minVersion: 'TLSv1.3' })
server.on('upgrade', (request, socket, head) => {
  const open = async (): Promise<void> => {
    const display = connect({ port: target, host: '127.0.0.1', ca: cert, minVersion: 'TLSv1.3' })
    await relay(await screens.accept(request, socket, head), display, { signal })
  }
  open().catch(() => socket.destroy())
})
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port))
process.stdin.on('end', () => process.exit()).resume()
