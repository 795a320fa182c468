// Runs inside a lab host: listens on the given ADDRESS:PORT pairs, TCP and UDP, prints a line when all of them listen, and then a
// line for each connection and each datagram.
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:net'

const pairs = process.argv.slice(2).map((pair) => pair.split(':'))
await Promise.all(
  pairs.map(async ([address, port]) => {
    const server = createServer((socket) => {
      process.stdout.write(`tcp ${port}\n`)
      socket.on('error', () => undefined).end('open\n')
    })
    server.listen(Number(port), address)
    const udp = createSocket('udp4').on('message', () => process.stdout.write(`udp ${port}\n`))
    udp.bind(Number(port), address)
    await Promise.all([once(server, 'listening'), once(udp, 'listening')])
  }),
)
process.stdout.write('ready\n')
