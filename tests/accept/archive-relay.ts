// Debian's archive for a program on a host of the lab, which has no way out of its own network: a proxy here, behind a socket
// that is a file, and a relay on the host's loopback that leads to it. It leads nowhere but to debian.org.
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

/** What has a network of its own, in which a program can be started. */
export interface Starts {
  spawn(command: readonly string[], options: SpawnOptions): ChildProcess
}

/** `proxy` is what http_proxy must say on the host. */
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

function passOn(asked: IncomingMessage, reply: ServerResponse): void {
  const url = URL.parse(asked.url ?? '')
  if (url?.protocol !== 'http:' || !/(^|\.)debian\.org$/.test(url.hostname)) {
    reply.writeHead(403).end()
    return
  }
  const onward = request(url, { method: asked.method, headers: asked.headers }, (answer) => {
    reply.writeHead(answer.statusCode ?? 502, answer.headers)
    answer.pipe(reply)
  })
  onward.on('error', () => reply.destroy())
  asked.pipe(onward)
}
