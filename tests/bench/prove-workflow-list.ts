// 10,000 stored workflows: how long a page of the list takes with a remembered credential, and what the whole list costs in memory,
// where a server that had all of it in memory would have it for each reader who is slow.
// The server is a process of its own, over a real PostgreSQL; the clients are here.
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
/** Who ask for the whole list, take its beginning, and read no further. */
const STOPPED = 50
/** Of a list that is read part by part: one that is sent and the one after it, each as rows and as text. All of it would be 20 parts. */
const PARTS_HELD = 4
const MIB = 2 ** 20

interface Ready {
  readonly port: number
  readonly authorization: string
}

const agent = new Agent({ keepAlive: true, maxSockets: 4 })

/** The bytes are counted as they come and not kept, so that the measure is the server's. */
async function read(port: number, path: string, headers: Record<string, string>) {
  const began = performance.now()
  const done = Promise.withResolvers<{ ms: number; bytes: number; status: number }>()
  const asked = request({ port, host: '127.0.0.1', path, headers, agent }, (answer) => {
    let bytes = 0
    answer.on('data', (part: Buffer) => (bytes += part.length))
    answer.on('end', () => {
      done.resolve({ ms: performance.now() - began, bytes, status: answer.statusCode ?? 0 })
    })
    answer.on('error', done.reject)
  })
  asked.on('error', done.reject)
  asked.end()
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

/** What the server's objects and buffers take when all that is waste was thrown away: what its pages take also tells of waste. */
async function weigh(child: ChildProcess): Promise<number> {
  child.send('weigh')
  const [bytes] = (await once(child, 'message')) as [number]
  return bytes
}

/** How much more the server has while readers stand still, for each of them, in MiB. */
async function heldEach(child: ChildProcess, port: number, headers: Record<string, string>) {
  const open = new Agent({ maxSockets: STOPPED })
  const before = await weigh(child)
  const begin = async () => {
    const asked = request({ port, host: '127.0.0.1', path: '/api/workflows', headers, agent: open })
    asked.end()
    const [answer] = (await once(asked, 'response')) as [IncomingMessage]
    answer.pause()
    // That it is cut off in the end is no error.
    answer.on('error', () => undefined)
  }
  try {
    await Promise.all(Array.from({ length: STOPPED }, begin))
    // It has come to rest when it does nothing more for them. The kernel has taken up to 4 MiB for each by then, which is not weighed.
    const idle = async () => {
      const spent = processorSeconds(child.pid ?? 0)
      await sleep(500)
      return processorSeconds(child.pid ?? 0) - spent < 0.05
    }
    await until('the server should come to rest', idle, 120_000)
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
  ...{ stdio: ['ignore', 'inherit', 'inherit', 'ipc'], execArgv: ['--expose-gc'] },
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
    console.log(
      `the whole list as ${accept}: ${size.toFixed(1)} MiB, ${ms.toFixed(0)} ms in the middle`,
    )
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
