import { once } from 'node:events'
import { connect, type TLSSocket } from 'node:tls'

/** A minimal viewer: it opens a WebSocket over TLS by hand and counts the received bytes, including frame headers. */
export interface RawViewer extends Disposable {
  readonly socket: TLSSocket
  say(text: string): void
}

const HANDSHAKE = [
  'GET /websockify HTTP/1.1',
  'Host: 127.0.0.1',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Protocol: binary',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  '',
  '',
].join('\r\n')

export async function openViewer(port: number, ca: string): Promise<RawViewer> {
  const socket = connect({ port, host: '127.0.0.1', ca })
  socket.on('error', () => undefined)
  socket.setNoDelay(true)
  socket.write(HANDSHAKE)
  const [answer] = (await once(socket, 'data')) as [Buffer]
  if (!answer.toString('latin1').startsWith('HTTP/1.1 101')) {
    throw new Error(`the WebSocket was refused: ${answer.toString('latin1').split('\r\n')[0]}`)
  }
  return {
    socket,
    say(text) {
      // One masked frame; a mask of zeros changes nothing.
      const body = Buffer.from(text)
      socket.write(Buffer.concat([Buffer.from([0x82, 0x80 | body.length, 0, 0, 0, 0]), body]))
    },
    [Symbol.dispose]() {
      socket.destroy()
    },
  }
}
