// Goal: vmd survives any bytes, answers that the request is wrong, and leaks no memory. Method: 1,000 requests per operation,
// each with one or two errors, from a seed that is printed; effects of valid ones are undone, so that the next request finds a
// VM. Then 100,000 different unknown URLs. Before and after: the process, its memory as the kernel counts it, its VMs.
import assert from 'node:assert/strict'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'

import { reasonToSkip, until, type LabHost } from '@skerry/lab'

import { curlOn } from './curl.ts'
import type { Report } from './malformed-requests.ts'
import { startVmdPlace, type VmdPlace } from './vmd-place.ts'

const skip = reasonToSkip('host', 'small') ?? false
const EACH = Number(process.env['SKERRY_MALFORMED'] ?? 1000)
const SEED = Number(process.env['SKERRY_SEED'] ?? 20_261_115)
const OPERATIONS = 13
const MIB = 1024 * 1024
/** Ten seconds of rest, and time for garbage collection on a busy machine. */
const REST_MS = 60_000
/** The closed list of codes that existing clients know, without internal errors. */
const LEGAL = [0, 200, 201, 202, 204, 400, 401, 403, 404, 405, 406, 408, 409, 415, 503]

let place: VmdPlace | undefined
let host: LabHost
const { get } = curlOn(() => host)

async function send(...words: readonly string[]): Promise<Report> {
  const file = `${import.meta.dirname}/malformed-requests.ts`
  const { stdout, stderr, code } = await host.run([process.execPath, file, ...words])
  assert.equal(code, 0, stderr)
  return JSON.parse(stdout) as Report
}

/** Resident memory of the process in bytes. */
async function memory(): Promise<number> {
  const status = await readFile(`/proc/${host.vmd?.pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024
}

suite('malformed requests', { skip }, () => {
  before(async () => {
    place = await startVmdPlace()
    host = place.host
  })
  after(() => place?.[Symbol.asyncDispose]())

  test(`${EACH} per operation: no crash, and no internal error`, async (t) => {
    const { pid } = host.vmd ?? {}
    const folder = join(place?.dir ?? '', 'folder')
    await mkdir(folder)
    const report = await send('malformed', String(EACH), String(SEED), folder)
    const { sent, statuses, broken, met } = report
    t.diagnostic(`seed ${SEED}: ${sent} malformed requests, answers ${JSON.stringify(statuses)}`)
    t.diagnostic(`requests per operation that reached its own code and a VM: ${met.join(', ')}`)
    assert.equal(sent, EACH * OPERATIONS)
    assert.deepEqual(
      broken.filter(({ answer }) => !answer.startsWith('HTTP/1.1 503 ')),
      [],
    )
    for (const status of Object.keys(statuses)) assert.ok(LEGAL.includes(Number(status)), status)
    for (const count of met) assert.ok(count > EACH / 5, `${count} of ${EACH}`)
    assert.equal(host.vmd?.pid, pid)
    assert.equal((await get('/api/vms')).status, 200)
  })

  test('100,000 unknown URLs leave nothing in memory', async (t) => {
    // A new process that has answered a thousand requests, without the earlier load.
    await host.killVmd('SIGTERM')
    await host.startVmd()
    const first = await memory()
    await send('unknown', '1000')
    await until('it released the memory of those', async () => (await memory()) < first, REST_MS)
    // The response comes after memory was released.
    assert.equal((await get('/api/vms')).status, 200)
    const before = await memory()
    const { sent, statuses } = await send('unknown', '100000')
    const most = (await memory()) - before
    const grown = async () => (await memory()) - before
    const lasting = await until(
      'memory is released while there are no requests',
      async () => (await grown()) < 10 * MIB && { bytes: await grown() },
      REST_MS,
    )
    t.diagnostic(
      `${sent} unknown URLs: memory grew by ${mib(most)} meanwhile, by ${mib(lasting.bytes)} after`,
    )
    assert.deepEqual(Object.keys(statuses), ['404'])
    assert.equal(sent, 100_000)
  })
})

const mib = (bytes: number): string => `${(bytes / MIB).toFixed(1)} MiB`
