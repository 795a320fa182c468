// Goal: a client of the balancer sees a cloud, not its cells. Method: cells that identify themselves, start and stop.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import type { AddressInfo, Server } from 'node:net'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'

import { freePorts, startBalancer, startBalancerProcess } from '../src/index.ts'
import { isAlive } from '../src/system/processes.ts'

/** A cell that sends its name, and then echoes. */
async function cell(name: string, port = 0): Promise<Server & AsyncDisposable> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => undefined)
    socket.write(`${name}:`)
    socket.pipe(socket)
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return server
}
const portOf = (server: Server) => (server.address() as AddressInfo).port

async function ask(port: number, said = 'hello'): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  socket.end(said)
  return text(socket)
}

const places = (...ports: number[]) => ports.map((port) => ({ host: '127.0.0.1', port }))

test('connections are distributed in turn, a cell that is down is skipped, and returns automatically', async () => {
  await using a = await cell('a')
  // Below the kernel's own range: while the cell is down, no one else gets its port.
  const home = await freePorts()
  const b = await cell('b', home)
  await using balancer = await startBalancer({ targets: places(portOf(a), home) })
  const answers = async () => {
    const all = [await ask(balancer.port), await ask(balancer.port), await ask(balancer.port)]
    return [...new Set(all)].sort()
  }
  assert.deepEqual(await answers(), ['a:hello', 'b:hello'])

  await b[Symbol.asyncDispose]()
  assert.deepEqual(await answers(), ['a:hello'])
  await using again = await cell('b', home)
  assert.equal(portOf(again), home)
  assert.deepEqual(await answers(), ['a:hello', 'b:hello'])
})

test('large amounts of data pass complete in both directions', async () => {
  await using a = await cell('a')
  await using balancer = await startBalancer({ targets: places(portOf(a)) })
  const much = 'skerry '.repeat(300_000)
  assert.ok((await ask(balancer.port, much)) === `a:${much}`)
})

test('without any cell the connection is closed, and the balancer stays', async () => {
  const port = await freePorts()
  await using balancer = await startBalancer({ targets: places(port) })
  assert.equal(await ask(balancer.port).catch(() => ''), '')
  await using back = await cell('back', port)
  assert.equal(portOf(back), port)
  assert.equal(await ask(balancer.port), 'back:hello')
})

test('as a process it keeps its port when it is restarted', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'lab-balancer-'))
  try {
    await using a = await cell('a')
    await using first = await startBalancerProcess(dir, places(portOf(a)))
    assert.equal(await ask(first.port), 'a:hello')
    await using second = await startBalancerProcess(dir, places(portOf(a)))
    assert.deepEqual([second.port, isAlive(first.pid)], [first.port, false])
    assert.equal(await ask(second.port, 'again'), 'a:again')
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
})
