// 10,000 stored workflows: how long a page of the list takes with a remembered credential, and what the whole list costs in memory.
// The server is a process of its own, over a durable PostgreSQL; the clients are here.
import assert from 'node:assert/strict'
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { join } from 'node:path'

const SERVER = join(import.meta.dirname, 'workflow-list-server.ts')
const WORKFLOWS = 10_000
const PAGES = 2_000
const WHOLE_LISTS = 20
const GOAL_MS = 20
const MEMORY_GOAL_MIB = 48

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

async function memoryMib(child: ChildProcess): Promise<number> {
  const status = await readFile(`/proc/${child.pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024
}

const share = (sorted: readonly number[], part: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? NaN

const child = fork(SERVER, [String(WORKFLOWS)], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
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
  for (const accept of ['application/json', 'application/xml']) {
    await read(port, '/api/workflows', { authorization, accept })
    const before = await memoryMib(child)
    let [most, bytes, ms] = [before, 0, 0]
    for (let at = 0; at < WHOLE_LISTS; at++) {
      const whole = read(port, '/api/workflows', { authorization, accept })
      most = Math.max(most, await memoryMib(child))
      const told = await whole
      assert.equal(told.status, 200)
      ;({ bytes } = told)
      ms += told.ms / WHOLE_LISTS
      most = Math.max(most, await memoryMib(child))
    }
    const grew = most - before
    console.log(
      `the whole list as ${accept}: ${(bytes / 2 ** 20).toFixed(1)} MiB in ${ms.toFixed(0)} ms, memory grew by ${grew.toFixed(1)} MiB`,
    )
    assert.ok(grew <= MEMORY_GOAL_MIB, `memory grew by ${grew} MiB, goal ${MEMORY_GOAL_MIB}`)
  }
  assert.ok(p99 <= GOAL_MS, `p99 ${p99} ms, goal ${GOAL_MS}`)
  console.log('met')
} finally {
  agent.destroy()
  child.kill('SIGTERM')
  await once(child, 'exit')
}
