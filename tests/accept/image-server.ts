// A web server that offers one image in several ways, some of which fail.
// Usage: node image-server.ts IMAGE
// Its port is the first line that it prints.
import { readFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

const image = readFileSync(process.argv[2] ?? '')
/** Slow enough that the progress bar is drawn more than once. */
const PARTS = 8
const PART_MS = 150

async function send(reply: ServerResponse, parts: number): Promise<void> {
  const size = Math.ceil(image.length / PARTS)
  for (let part = 0; part < parts; part += 1) {
    reply.write(image.subarray(part * size, (part + 1) * size))
    await sleep(PART_MS)
  }
  if (parts === PARTS) reply.end()
  else reply.destroy()
}

const known = { 'content-length': image.length }
const ways: Readonly<Record<string, (reply: ServerResponse) => unknown>> = {
  '/good.qcow2': (reply) => send(reply.writeHead(200, known), PARTS),
  '/unknown-size.qcow2': (reply) => send(reply.writeHead(200), PARTS),
  '/cut.qcow2': (reply) => send(reply.writeHead(200, known), PARTS / 2),
  '/cut-unknown-size.qcow2': (reply) => send(reply.writeHead(200), PARTS / 2),
  '/moved.qcow2': (reply) => reply.writeHead(302, { location: '/good.qcow2' }).end(),
  // Never ends: for a client that gives up.
  '/slow.qcow2': (reply) => reply.writeHead(200, known).write(image.subarray(0, 1024)),
}

const server = createServer((requested, reply) => {
  const way = ways[requested.url ?? '']
  if (way) void way(reply)
  else reply.writeHead(404).end('there is nothing here')
})
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port))
