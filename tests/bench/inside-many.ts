// Runs on a lab host beside its vmd, and uses vmd by HTTP for everything.
import assert from 'node:assert/strict'

import { until } from '@skerry/lab'

import { startBare } from './bare.ts'
import { compare, type Figure } from './figure.ts'
import { VmdClient } from './vmd-client.ts'

const PAIRS = 20
/** The memory that the small guest needs to boot. */
const MEMORY_MIB = 96
const WAIT_MAX_SECONDS = 999

const [vms = 0, running = 0, wave = 1, minutes = 1] = process.argv.slice(2).map(Number)
const ids = Array.from({ length: vms }, (_, number) => `vm-${String(number).padStart(4, '0')}`)
const toRun = ids.slice(0, running)
using vmd = new VmdClient(wave)
await using bare = startBare()

const seconds: Record<string, number> = {}
await noting('create', () => all(ids, create))
await noting('boot', () => inWaves(toRun, boot))
await until('the DHCP server has recorded the last address', async () => {
  const rows = JSON.parse(await vmd.ask('GET', '/api/vms?view=full')) as Row[]
  return rows.filter(({ address }) => address !== undefined).length >= running
})
await requireTruth()
const reads = {
  list: await against('/api/vms', 'listNames', 1.5),
  states: await against('/api/vms?state=powered%20on', 'listAtOnce', 1.5),
  full: await against('/api/vms?view=full', 'listFull'),
  metrics: await against('/metrics', 'listAtOnce'),
}
await noting('off', () => all(toRun, (id) => vmd.ask('PATCH', `/api/vms/power/${id}`, 'off')))
await noting('delete', () => all(ids, (id) => vmd.ask('DELETE', `/api/vms/${id}`)))
assert.deepEqual(JSON.parse(await vmd.ask('GET', '/api/vms')), [])
console.log(JSON.stringify({ vms, running, seconds, reads }))

async function create(id: string): Promise<void> {
  await vmd.ask('POST', '/api/vms', JSON.stringify({ id, memoryMiB: MEMORY_MIB }))
}

/** Powered on, and waited for until the guest has an address: then its system is up. */
async function boot(id: string): Promise<void> {
  await vmd.ask('PATCH', `/api/vms/power/${id}`, 'on')
  const patience = Math.min(minutes * 60, WAIT_MAX_SECONDS)
  await vmd.ask('GET', `/api/vms/${id}/ipaddress?wait=${patience}`)
}

/** Every list and read returns the same, and the same as libvirt. */
async function requireTruth(): Promise<void> {
  assert.deepEqual(JSON.parse(await vmd.ask('GET', '/api/vms')), ids)
  assert.deepEqual(JSON.parse(await vmd.ask('GET', '/api/vms?state=powered%20on')), toRun)
  const rows = JSON.parse(await vmd.ask('GET', '/api/vms?view=full')) as Row[]
  const expected = ids.map((id) => [id, toRun.includes(id) ? 'powered on' : 'powered off'])
  assert.deepEqual(
    rows.map(({ id, state }) => [id, state]),
    expected,
  )
  const addresses = rows.flatMap(({ address }) => address ?? [])
  assert.equal(new Set(addresses).size, running, `addresses of their own: ${addresses.join(' ')}`)
  const metrics = await vmd.ask('GET', '/metrics')
  for (const [power, count] of [
    ['on', running],
    ['off', vms - running],
    ['paused', 0],
    ['suspended', 0],
  ]) {
    assert.match(metrics, new RegExp(`^skerry_vms\\{power="${power}"\\} ${count}$`, 'm'))
  }
  assert.equal((await bare.ask<{ count: number }>('listNames')).count, vms)
  assert.equal(await bare.ask('countRunning'), running)
}

interface Row {
  readonly id: string
  readonly state: string
  readonly address?: string
}

/** The duration of a response, beside bare libvirt with the same content. */
async function against(
  path: string,
  way: string,
  atMost = Infinity,
): Promise<Pick<Figure, 'ours' | 'bare' | 'ratio' | 'spread'>> {
  const figure = await compare(
    { name: path, unit: 'ms', atMost },
    PAIRS,
    async () => {
      const begun = performance.now()
      await vmd.ask('GET', path)
      return performance.now() - begun
    },
    async () => (await bare.ask<{ seconds: number }>(way)).seconds * 1000,
  )
  return { ours: figure.ours, bare: figure.bare, ratio: figure.ratio, spread: figure.spread }
}

async function noting(what: string, work: () => Promise<unknown>): Promise<void> {
  const begun = performance.now()
  await work()
  seconds[what] = Math.round((performance.now() - begun) / 100) / 10
  console.error(`${what}: ${seconds[what]} s`)
}

/** As many at once as there are connections. */
function all(names: readonly string[], work: (id: string) => Promise<unknown>) {
  return Promise.all(names.map(work))
}

/** This many at once, each followed by the next as soon as it is up. */
async function inWaves(names: readonly string[], work: (id: string) => Promise<unknown>) {
  const left = [...names]
  const lane = async () => {
    for (let id = left.shift(); id !== undefined; id = left.shift()) {
      await work(id)
      console.error(`${id} is up, ${left.length} wait to be started`)
    }
  }
  await Promise.all(Array.from({ length: wave }, lane))
}
