// Goal: a machine that is off is given up soon, so that it is seen soon when it is back. Method: a server that stands still, with
// no room left for connections: the kernel answers nothing, as a machine that is off.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'

import { startIssuer, until } from '@skerry/lab'

import { MachineLink } from '../src/index.ts'

const STANDS_STILL = `
const server = require('node:net').createServer()
server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => console.log(server.address().port))
`

/** A port that takes no connections and refuses none. */
async function silentPort() {
  const child = spawn(process.execPath, ['-e', STANDS_STILL], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [said] = (await once(child.stdout, 'data')) as [Buffer]
  const port = Number(said)
  child.kill('SIGSTOP')
  const callers: Socket[] = []
  await until('there is no room left', async () => {
    const caller = connect(port, '127.0.0.1')
    caller.on('error', () => undefined)
    callers.push(caller)
    const late = AbortSignal.timeout(500)
    return once(caller, 'connect', { signal: late }).then(
      () => false,
      () => true,
    )
  })
  return {
    port,
    [Symbol.dispose]() {
      for (const caller of callers) caller.destroy()
      child.kill('SIGKILL')
    },
  }
}

test('a machine that takes no connection is given up long before an answer would be', async () => {
  using silent = await silentPort()
  await using control = await startIssuer('control')
  const own = await control.issue('URI:skerry://lab/cell/a')
  const target = { address: '127.0.0.1', port: silent.port }
  using link = new MachineLink(target, { ...own, ca: control.cert }, { role: 'host', id: 'h' })
  const began = performance.now()
  await assert.rejects(link.ask({ method: 'GET', path: '/' }), {
    kind: 'unavailable',
    message: `the host h at 127.0.0.1:${silent.port} does not take connections`,
  })
  const tookMs = performance.now() - began
  assert.ok(tookMs > 4_000 && tookMs < 15_000, `${tookMs} ms`)
})
