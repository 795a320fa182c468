// Goal: servers in a closed network are visible on the machine, and nothing else of it is. Method: a network with only a server that
// identifies itself.
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'

import { freePorts, reasonToSkip, startPostgres, until } from '../src/index.ts'
import { isListening } from '../src/network/listening.ts'
import { forgetNetwork, inNetworkNamed, makeSwitch } from '../src/network/netns.ts'
import { killEngines, startDaemon } from '../src/servers/daemon.ts'
import { openWindow } from '../src/servers/window.ts'
import { killAndWait } from '../src/system/processes.ts'
import { attempt, run } from '../src/system/run.ts'
import { sharedMemory } from '../src/system/shared-memory.ts'

const skip = reasonToSkip('host') ?? false
const skipCloud = reasonToSkip('cloud') ?? skip

const SERVER = `
const { createServer } = require('node:net')
const server = createServer({ allowHalfOpen: true }, (s) => { s.write(process.argv[2] + ':'); s.pipe(s) })
server.listen(Number(process.argv[3]), process.argv[4])
`

/** A closed network and a directory, both removed afterwards with everything started in them. */
async function closedNetwork() {
  const dir = await mkdtemp(join(tmpdir(), 'lab-window-'))
  const netns = `skerry-window-${process.pid}`
  await makeSwitch(netns)
  await writeFile(join(dir, 'server.cjs'), SERVER)
  const serve = async (name: string, port: number, address = '127.0.0.1') => {
    const command = [process.execPath, join(dir, 'server.cjs'), name, String(port), address]
    const log = join(dir, 'server.log')
    const { pid } = startDaemon({ dir, log, command, netns, outlives: false })
    await until('the server listens', () => isListening(pid, port))
    return pid
  }
  return {
    dir,
    netns,
    serve,
    async [Symbol.asyncDispose]() {
      await killEngines(dir)
      await forgetNetwork(netns)
      await rm(dir, { recursive: true, force: true })
    },
  }
}

async function ask(port: number, said = 'hello', host = '127.0.0.1'): Promise<string> {
  const socket = connect({ port, host, allowHalfOpen: true })
  socket.end(said)
  return text(socket)
}

test('the same port at two addresses is visible at each of them', { skip }, async () => {
  await using closed = await closedNetwork()
  const port = await freePorts()
  await closed.serve('one', port)
  await closed.serve('other', port, '127.0.0.3')
  await using _ = await openWindow(join(closed.dir, 'window'), {
    netns: closed.netns,
    ports: [port],
    elsewhere: [{ address: '127.0.0.3', port }],
  })
  const both = async () => [await ask(port, 'x'), await ask(port, 'x', '127.0.0.3')].join()
  await until('both are visible', async () => (await both().catch(() => '')) === 'one:x,other:x')
})

test(
  'a port of a closed network is visible under the same number while it is open',
  { skip },
  async () => {
    await using closed = await closedNetwork()
    const port = await freePorts(2)
    const pid = await closed.serve('a', port)
    await assert.rejects(ask(port), { code: 'ECONNREFUSED' })
    await using _ = await openWindow(join(closed.dir, 'window'), {
      netns: closed.netns,
      ports: [port, port + 1],
    })
    const much = 'skerry '.repeat(100_000)
    assert.ok((await ask(port, much)) === `a:${much}`)
    assert.equal(await ask(port + 1).catch(() => ''), '', 'no server listens there yet')

    await killAndWait([pid])
    assert.equal(await ask(port).catch(() => ''), '')
    await closed.serve('b', port)
    await closed.serve('c', port + 1)
    assert.deepEqual([await ask(port), await ask(port + 1)], ['b:hello', 'c:hello'])
  },
)

test('a window replaces a killed one, and the network stays closed', { skip }, async () => {
  await using closed = await closedNetwork()
  const port = await freePorts()
  await closed.serve('a', port)
  const where = join(closed.dir, 'window')
  const options = { netns: closed.netns, ports: [port] }
  await openWindow(where, options)
  await killEngines(where)
  await using _ = await openWindow(where, options)
  assert.equal(await ask(port), 'a:hello')
  // No route leads out of it, not even to the machine.
  const routes = await run(inNetworkNamed(closed.netns, ['ip', '-4', 'route', 'show']))
  assert.match(routes, /^10\.91\.0\.0\/16 dev lab [^\n]*\n$/)
  const links = await run(inNetworkNamed(closed.netns, ['ip', '-brief', 'link']))
  assert.deepEqual(
    links
      .trim()
      .split('\n')
      .map((line) => line.split(' ')[0]),
    ['lo', 'lab'],
  )
  const out = inNetworkNamed(closed.netns, ['curl', '-s', '--max-time', '2', 'http://192.0.2.1/'])
  assert.notEqual((await attempt(out)).code, 0)
})

test(
  'a PostgreSQL of a closed network is reachable from its network and from the machine',
  { skip: skipCloud },
  async () => {
    await using closed = await closedNetwork()
    const port = await freePorts()
    const { netns } = closed
    await using postgres = await startPostgres(join(closed.dir, 'pg'), {
      durable: false,
      netns,
      port,
    })
    assert.deepEqual([postgres.port, await postgres.psql('select 1')], [port, '1'])
    assert.notEqual((await attempt(['psql', postgres.url, '-c', 'select 1'])).code, 0)
    await using _ = await openWindow(join(closed.dir, 'window'), { netns, ports: [port] })
    assert.match(await run(['psql', postgres.url, '-Atc', 'select 2']), /^2$/m)
    const { pid } = postgres
    await killEngines(postgres.dir)
    assert.ok(!sharedMemory().some(({ maker }) => maker === pid), 'its memory is gone with it')
  },
)
