// Runs on a lab host beside its vmd: vmd by HTTP, against bare libvirt and a bare server.
import { readFileSync } from 'node:fs'

import { startBare, type Bare } from './bare.ts'
import { compare, compareAll, type Figure } from './figure.ts'
import { load, startBareServer } from './load.ts'
import { VmdClient } from './vmd-client.ts'

const VMS = 200
/** A list takes milliseconds, which other load of the machine affects. */
const LIST_PAIRS = 100
const POWER = '/api/vms/power/probe'

const pairs = Number(process.argv[2])
using vmd = new VmdClient()
await using bare = startBare()
const ids = ['probe', ...Array.from({ length: VMS - 1 }, (_, number) => `listed-${number}`)]
for (const id of ids) {
  await vmd.ask('POST', '/api/vms', JSON.stringify({ id, memoryMiB: 128 }))
}
const figures = [...(await lists(bare)), ...(await readPower()), await powerOn(bare)]
console.log(JSON.stringify(figures))

/** Each list against the baseline with the same content: names alone, or which of them are off. */
async function lists(bare: Bare): Promise<Figure[]> {
  const off = '/api/vms?state=powered%20off'
  const names = await listAgainst(bare, '/api/vms', 'listNames')
  // The baseline can get the states in two ways; the faster one is compared.
  const ways = [
    await listAgainst(bare, off, 'listOneByOne'),
    await listAgainst(bare, off, 'listAtOnce'),
  ]
  return [names, ways.reduce((best, figure) => (figure.bare < best.bare ? figure : best))]
}

function listAgainst(bare: Bare, path: string, way: string): Promise<Figure> {
  return compare(
    { name: `GET ${decodeURIComponent(path)}, ${VMS} VMs`, unit: 'ms', atMost: 1.5 },
    Math.max(pairs, LIST_PAIRS),
    async () => {
      let seen: unknown[] = []
      const ms = await timed(async () => {
        seen = JSON.parse(await vmd.ask('GET', path)) as unknown[]
      })
      requireAll(seen.length)
      return ms
    },
    async () => {
      const { seconds, count } = await bare.ask<{ seconds: number; count: number }>(way)
      requireAll(count)
      return seconds * 1000
    },
  )
}

/** Of a paused guest: it has a QEMU, which takes no CPU time from either side. */
async function readPower(): Promise<Figure[]> {
  await vmd.ask('PATCH', POWER, 'on')
  await vmd.ask('PATCH', POWER, 'pause')
  await using bareServer = await startBareServer(await vmd.ask('GET', POWER))
  const pid = Number.parseInt(readFileSync('/run/skerry/vmd.pid', 'utf8'), 10)
  const figures = await compareAll(
    [
      { name: 'GET power, 64 connections', unit: 'requests/s', atLeast: 0.5 },
      { name: 'GET power, 64 connections', unit: 'requests/CPU s', atLeast: 0.5 },
    ],
    pairs,
    () => load({ pid, url: `http://127.0.0.1:8080${POWER}` }),
    () => load(bareServer),
  )
  await vmd.ask('PATCH', POWER, 'off')
  return figures
}

/** Both start the same domain; the baseline powers it off, so that only the start differs. */
async function powerOn(bare: Bare): Promise<Figure> {
  return compare(
    { name: 'PATCH power on', unit: 'ms', atMost: 1.05 },
    pairs,
    async () => {
      const ms = await timed(() => vmd.ask('PATCH', POWER, 'on'))
      await bare.ask('destroy', 'local-probe')
      return ms
    },
    async () => {
      const seconds = await bare.ask('powerOn', 'local-probe')
      await bare.ask('destroy', 'local-probe')
      return seconds * 1000
    },
  )
}

function requireAll(count: number): void {
  if (count !== VMS) throw new Error(`expected ${VMS} VMs in the list, not ${count}`)
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now()
  await work()
  return performance.now() - begun
}
