// Debian's archive for a program on a lab host, which has no route out of its own network: a proxy on this machine, behind a Unix
// socket, and a relay on the host's loopback that connects to it. It connects only to debian.org.
import type { ChildProcess, SpawnOptions } from 'node:child_process'
import { once } from 'node:events'
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

const RELAY = `
const { connect, createServer } = require('node:net')
createServer((near) => {
  const far = connect(process.argv[1])
  near.pipe(far).pipe(near)
  near.on('error', () => far.destroy())
  far.on('error', () => near.destroy())
}).listen(0, '127.0.0.1', function () { console.log(this.address().port) })`

/** A machine with its own network, in which a program can be started. */
export interface Starts {
  spawn(command: readonly string[], options: SpawnOptions): ChildProcess
}

/** `proxy`: the value of http_proxy on the host. */
export async function openArchive(
  host: Starts,
  directory: string,
): Promise<{ readonly proxy: string } & AsyncDisposable> {
  const socket = join(directory, 'archive.sock')
  const server = createServer(passOn)
  await once(server.listen(socket), 'listening')
  const relay = host.spawn([process.execPath, '-e', RELAY, socket], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (relay.stdout === null) throw new Error('the relay has no standard output')
  const [port] = (await once(createInterface({ input: relay.stdout }), 'line')) as [string]
  return {
    proxy: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      relay.kill()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function passOn(requested: IncomingMessage, reply: ServerResponse): void {
  const url = URL.parse(requested.url ?? '')
  if (url?.protocol !== 'http:' || !/(^|\.)debian\.org$/.test(url.hostname)) {
    reply.writeHead(403).end()
    return
  }
  const onward = request(
    url,
    { method: requested.method, headers: requested.headers },
    (answer) => {
      reply.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(reply)
    },
  )
  onward.on('error', () => reply.destroy())
  requested.pipe(onward)
}
