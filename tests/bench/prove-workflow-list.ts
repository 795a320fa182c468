// 10,000 stored workflows: the duration of a page of the list with a cached credential, and the memory of the whole list, which a
// server that buffers it would need for each slow reader. The server is a separate process, with a real PostgreSQL; the clients
// are here.
import assert from 'node:assert/strict'
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { until } from '@skerry/lab'

import { PART } from '../../apps/workflow/src/store/list-workflows.ts'
import { processorSeconds } from './processor.ts'

const SERVER = join(import.meta.dirname, 'workflow-list-server.ts')
const WORKFLOWS = 10_000
const PAGES = 2_000
const WHOLE_LISTS = 20
const GOAL_MS = 20
/** Clients that request the whole list, read its beginning, and stop reading. */
const STOPPED = 50
/**
 * For a list that is read in parts: the part being sent and the next one, each as rows and as text. The whole list would be 20
 * parts.
 */
const PARTS_HELD = 4
const MIB = 2 ** 20

interface Ready {
  readonly port: number
  readonly authorization: string
}

const agent = new Agent({ keepAlive: true, maxSockets: 4 })

/** The bytes are counted as they arrive and not stored, so that only the server is measured. */
async function read(port: number, path: string, headers: Record<string, string>) {
  const began = performance.now()
  const done = Promise.withResolvers<{ ms: number; bytes: number; status: number }>()
  const requested = request({ port, host: '127.0.0.1', path, headers, agent }, (answer) => {
    let bytes = 0
    answer.on('data', (part: Buffer) => (bytes += part.length))
    answer.on('end', () => {
      done.resolve({ ms: performance.now() - began, bytes, status: answer.statusCode ?? 0 })
    })
    answer.on('error', done.reject)
  })
  requested.on('error', done.reject)
  requested.end()
  return done.promise
}

async function readWhole(port: number, headers: Record<string, string>) {
  const times: number[] = []
  let bytes = 0
  for (let at = 0; at < WHOLE_LISTS; at++) {
    const whole = await read(port, '/api/workflows', headers)
    assert.equal(whole.status, 200)
    ;({ bytes } = whole)
    times.push(whole.ms)
  }
  times.sort((a, b) => a - b)
  return { bytes, ms: share(times, 0.5) }
}

/** The server's objects and buffers after a garbage collection: its resident pages would include garbage. */
async function weigh(child: ChildProcess): Promise<number> {
  child.send('weigh')
  const [bytes] = (await once(child, 'message')) as [number]
  return bytes
}

/** The additional memory of the server per stalled reader, in MiB. */
async function heldEach(child: ChildProcess, port: number, headers: Record<string, string>) {
  const open = new Agent({ maxSockets: STOPPED })
  const before = await weigh(child)
  const begin = async () => {
    const requested = request({
      port,
      host: '127.0.0.1',
      path: '/api/workflows',
      headers,
      agent: open,
    })
    requested.end()
    const [answer] = (await once(requested, 'response')) as [IncomingMessage]
    answer.pause()
    // Its final disconnection is not an error.
    answer.on('error', () => undefined)
  }
  try {
    await Promise.all(Array.from({ length: STOPPED }, begin))
    // It is idle when it does nothing more for them. The kernel has buffered up to 4 MiB for each by then, which does not count.
    const idle = async () => {
      const spent = processorSeconds(child.pid ?? 0)
      await sleep(500)
      return processorSeconds(child.pid ?? 0) - spent < 0.05
    }
    await until('the server should become idle', idle, 120_000)
    return ((await weigh(child)) - before) / STOPPED / MIB
  } finally {
    open.destroy()
  }
}

let missed = 0
function judge(what: string, value: number, most: number): void {
  const met = value <= most
  if (!met) missed += 1
  console.log(`${what}: ${value.toFixed(2)}, at most ${most.toFixed(2)}${met ? '' : ': NOT met'}`)
}

const share = (sorted: readonly number[], part: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? NaN

const child = fork(SERVER, [String(WORKFLOWS)], {
  stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  execArgv: ['--expose-gc'],
})
try {
  const [{ port, authorization }] = (await once(child, 'message')) as [Ready]
  const headers = { authorization, accept: 'application/json' }
  const page = (at: number) =>
    read(port, `/api/workflows?maxResult=100&startIndex=${(at * 100) % WORKFLOWS}`, headers)
  for (let at = 0; at < 200; at++) assert.equal((await page(at)).status, 200)
  const times: number[] = []
  for (let at = 0; at < PAGES; at++) times.push((await page(at)).ms)
  times.sort((a, b) => a - b)
  const [p50, p99] = [share(times, 0.5), share(times, 0.99)]
  console.log(`a page of 100 of ${WORKFLOWS}: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`)
  judge('a page, p99 in ms', p99, GOAL_MS)
  for (const accept of ['application/json', 'application/xml']) {
    const { bytes, ms } = await readWhole(port, { authorization, accept })
    const size = bytes / MIB
    console.log(`the whole list as ${accept}: ${size.toFixed(1)} MiB, median ${ms.toFixed(0)} ms`)
    const held = await heldEach(child, port, { authorization, accept })
    judge('held for a reader that stopped, in MiB', held, (PARTS_HELD * PART * size) / WORKFLOWS)
  }
  console.log(missed === 0 ? 'every goal met' : `${missed} goals NOT met`)
  process.exitCode = missed === 0 ? 0 : 1
} finally {
  agent.destroy()
  child.kill('SIGTERM')
  await once(child, 'exit')
}
