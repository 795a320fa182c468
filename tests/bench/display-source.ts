// The data source behind both relays: the same bytes, by plain TCP and by TLS. Its first input line selects the mode: stream N
// bytes, trickle 2.5 Mbit/s, like a screen with moving content, or echo.
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { createServer as createSecure } from 'node:tls'

const { key, cert } = JSON.parse(process.argv[2] ?? '{}') as { key: string; cert: string }
const PIECE = Buffer.alloc(64 * 1024, 0x5a)
const TRICKLE_MS = 100
const TRICKLE = PIECE.subarray(0, 31_250)

function serve(socket: Socket): void {
  socket.on('error', () => undefined)
  socket.setNoDelay(true)
  socket.once('data', (said: Buffer) => {
    const end = said.indexOf('\n')
    const [word, value] = said.toString('latin1', 0, end).split(' ')
    if (word === 'echo') {
      // Bytes after the line are the first to be echoed.
      socket.write(said.subarray(end + 1))
      return void socket.pipe(socket)
    }
    if (word === 'trickle') {
      const timer = setInterval(() => socket.write(TRICKLE), TRICKLE_MS)
      return void socket.on('close', () => clearInterval(timer))
    }
    if (word === 'stream') stream(socket, Number(value))
    return undefined
  })
}

function stream(socket: Socket, bytes: number): void {
  let left = bytes
  const go = (): void => {
    while (left > 0) {
      const piece = left < PIECE.length ? PIECE.subarray(0, left) : PIECE
      left -= piece.length
      if (!socket.write(piece)) return void socket.once('drain', go)
    }
  }
  go()
}

const listen = async (server: Server): Promise<number> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}
const plain = await listen(createServer(serve))
const secure = await listen(createSecure({ key, cert, minVersion: 'TLSv1.3' }, serve))
console.log(JSON.stringify({ plain, secure }))
process.stdin.on('end', () => process.exit()).resume()
