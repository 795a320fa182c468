// Inside a host: forwards a port to a Unix socket, to a cell in another network.
import { connect, createServer } from 'node:net'

const [port, file = ''] = process.argv.slice(2)
createServer((near) => {
  const far = connect(file)
  near.on('error', () => far.destroy())
  far.on('error', () => near.destroy())
  near.pipe(far).pipe(near)
}).listen(Number(port), '127.0.0.1', () => console.log('ready'))
