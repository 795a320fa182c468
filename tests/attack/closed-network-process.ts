// The only connections out of and into a closed network namespace: `out:PORT=FILE` forwards a port of its loopback to a Unix
// socket, `in:PORT=FILE` a Unix socket to such a port. It lives as long as the program that started it reads its output.
import { connect, createServer, type Server } from 'node:net'

const listening = process.argv.slice(2).map(async (word) => {
  const [, way, port, path = ''] = /^(in|out):(\d+)=(.+)$/.exec(word) ?? []
  const inside = { port: Number(port), host: '127.0.0.1' }
  const server: Server = createServer((near) => {
    const far = connect(way === 'out' ? { path } : inside)
    near.on('error', () => far.destroy()).once('close', () => far.destroy())
    far.on('error', () => near.destroy()).once('close', () => near.destroy())
    near.pipe(far).pipe(near)
  })
  const { promise, resolve } = Promise.withResolvers<void>()
  server.listen(way === 'out' ? inside : { path }, resolve)
  return promise
})
await Promise.all(listening)
process.stdin.on('end', () => process.exit()).resume()
process.stdout.write('ready\n')
