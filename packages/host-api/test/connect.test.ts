// Goal: a connection to a machine that is off fails soon, so that its return is noticed soon. Method: a stopped server whose
// connection backlog is full: the kernel does not answer, like a machine that is off.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

import { startIssuer, until } from '@skerry/lab'

import { MachineLink } from '../src/index.ts'

const STANDS_STILL = `
const server = require('node:net').createServer()
server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => console.log(server.address().port))
`

/** A port that neither accepts nor rejects connections. */
async function silentPort() {
  const child = spawn(process.execPath, ['-e', STANDS_STILL], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [said] = (await once(child.stdout, 'data')) as [Buffer]
  const port = Number(said)
  child.kill('SIGSTOP')
  const callers: Socket[] = []
  await until('the backlog is full', async () => {
    const caller = connect(port, '127.0.0.1')
    caller.on('error', () => undefined)
    callers.push(caller)
    await Promise.race([once(caller, 'connect'), sleep(500)])
    // After a pause of this process its timers are over before it learns of its connections.
    await new Promise(setImmediate)
    return caller.connecting
  })
  return {
    port,
    [Symbol.dispose]() {
      for (const caller of callers) caller.destroy()
      child.kill('SIGKILL')
    },
  }
}

test('a connection attempt fails long before the response timeout', async () => {
  using silent = await silentPort()
  await using control = await startIssuer('control')
  const own = await control.issue('URI:skerry://lab/cell/a')
  const target = { address: '127.0.0.1', port: silent.port }
  using link = new MachineLink(target, { ...own, ca: control.cert }, { role: 'host', id: 'h' })
  const began = performance.now()
  await assert.rejects(link.ask({ method: 'GET', path: '/' }), {
    kind: 'unavailable',
    message: `timeout: the host h at 127.0.0.1:${silent.port} does not accept connections`,
  })
  const tookMs = performance.now() - began
  assert.ok(tookMs > 4_000 && tookMs < 15_000, `${tookMs} ms`)
})
