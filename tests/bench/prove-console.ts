// The console at full size: every ticket once, no guess, and a thousand screens through one process, beside websockify. The hosts
// are simulated: the host API over mTLS, tickets, PostgreSQL and consoles are real.
// Usage: node tests/bench/prove-console.ts [--tickets 10000] [--guesses 100000] [--consoles 1000] [--vms 250] [--mbit 250]
// [--bare 100] [--seconds 20]
// Prints one line of JSON; fails if a goal is missed.
import { randomBytes } from 'node:crypto'
import { loadavg } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'

import { requirePrograms, until } from '@skerry/lab'
import type { VmId } from '@skerry/vm'
import { sql } from 'kysely'

import type { User } from '../../apps/cloud/test/console-database.ts'
import { startSmallConsole, type SmallConsole } from '../console/small-console.ts'
import { connectTo, inTurns, look, mustLook, shake, type Viewer } from '../console/viewer.ts'
import { memoryOf } from './memory-of.ts'
import { startWebsockify } from './websockify.ts'

const { values } = parseArgs({
  options: {
    tickets: { type: 'string', default: '10000' },
    guesses: { type: 'string', default: '100000' },
    consoles: { type: 'string', default: '1000' },
    vms: { type: 'string', default: '250' },
    mbit: { type: 'string', default: '250' },
    bare: { type: 'string', default: '100' },
    seconds: { type: 'string', default: '20' },
  },
})
const count = (name: keyof typeof values): number => Number(values[name])
/** A host accepts a thousand armed tickets at once, and drops one after 40 s. */
const HOSTS = 12
const LANES = 24
const MIB = 1024 * 1024
const ECHOES = 200
const goals = { idle: 0.05, loaded: 0.1 } as const

requirePrograms('cloud', 'bench')
const began = loadavg()[0] ?? 0
await using small = await startSmallConsole({ consoles: 2, hosts: HOSTS })
await sql`update cloud set consoles_per_vm = 100000, consoles_per_user = 100000`.execute(
  small.it.cloud.db,
)
const vms = await small.addVms(count('vms'))
const users = await small.users(50)

const tickets = await showTwice(small, count('tickets'))
const guesses = await guess(small, count('guesses'))
const idle = await weigh(small, 0)
const loaded = await weigh(small, (count('mbit') * 1e6) / 8 / count('consoles'))
const bareIdle = await weighBare(0)
const bareLoaded = await weighBare((count('mbit') * 1e6) / 8 / count('consoles'))
const ratios = {
  idle: idle.memory / (bareIdle * count('consoles')),
  loaded: loaded.memory / (bareLoaded * count('consoles')),
}
const met =
  tickets.opened === count('tickets') &&
  guesses === 0 &&
  ratios.idle <= goals.idle &&
  ratios.loaded <= goals.loaded
process.stdout.write(
  `${JSON.stringify({
    proof: 'console',
    met,
    load: began,
    tickets,
    guesses: { requested: count('guesses'), opened: guesses },
    consoles: { open: count('consoles'), vms: vms.length },
    idle: {
      ...shown(idle),
      perWebsockify: mib(bareIdle),
      ratio: round(ratios.idle),
      goal: goals.idle,
    },
    loaded: {
      ...shown(loaded),
      perWebsockify: mib(bareLoaded),
      ratio: round(ratios.loaded),
      goal: goals.loaded,
    },
  })}\n`,
)
if (!met) process.exitCode = 1

interface Weighed {
  /** Of the console's process, with that many screens open. */
  readonly memory: number
  readonly mbitSeen: number
  /** The echo of a key, in milliseconds. */
  readonly echo: { readonly median: number; readonly p99: number }
}

function shown({ memory, mbitSeen, echo }: Weighed) {
  return { memoryMiB: mib(memory), mbitSeen: round(mbitSeen), echoMs: echo }
}
function mib(bytes: number): number {
  return round(bytes / MIB)
}
function round(value: number): number {
  return Math.round(value * 1000) / 1000
}

function someVm(at: number): VmId {
  return vms[at % vms.length] as VmId
}
function someUser(at: number): User {
  return users[at % users.length] as User
}

/** Every ticket at two processes at the same time. */
async function showTwice(it: SmallConsole, wanted: number) {
  let opened = 0
  let refused = 0
  await inTurns(Array.from({ length: wanted }), LANES, async (_, at) => {
    const vm = someVm(at)
    const ticket = await it.ticket(vm, someUser(at))
    const requested = { ca: it.authority.site, vm, ticket }
    const both = await Promise.all(it.consoles.map(({ url }) => look({ ...requested, url })))
    for (const each of both) {
      if (typeof each === 'number') refused += 1
      else {
        opened += 1
        each[Symbol.dispose]()
      }
    }
  })
  return { shownTwice: wanted, opened, refused }
}

/** Guessed tickets, over the wire. */
async function guess({ consoles, authority }: SmallConsole, wanted: number): Promise<number> {
  const [first] = consoles
  const one = await connectTo(first?.url ?? '', authority.site)
  const session = await new Promise<Buffer>((resolve) => one.once('session', resolve))
  one.destroy()
  let opened = 0
  await inTurns(Array.from({ length: wanted }), LANES, async (_, at) => {
    const socket = await connectTo(first?.url ?? '', authority.site, session)
    const ticket = randomBytes(32).toString('base64url')
    if ((await shake(socket, { vm: someVm(at), ticket })) !== 403) opened += 1
  })
  return opened
}

/** The requested number of screens through the second process, each painted at this rate. */
async function weigh(it: SmallConsole, paints: number): Promise<Weighed> {
  const [, console] = it.consoles
  if (!console) throw new Error('a second process is needed')
  // A fresh process: leftovers of the tickets would hide the memory of screens.
  await console.kill()
  await console.start()
  it.paint(paints)
  const viewers: Viewer[] = []
  try {
    await inTurns(Array.from({ length: count('consoles') }), LANES, async (_, at) => {
      const vm = someVm(at)
      const ticket = await it.ticket(vm, someUser(at))
      viewers.push(await mustLook({ url: console.url, ca: it.authority.site, vm, ticket }))
    })
    it.paint(0)
    const vm = someVm(0)
    const ticket = await it.ticket(vm, someUser(0))
    using typist = await mustLook({ url: console.url, ca: it.authority.site, vm, ticket })
    const before = viewers.reduce((sum, { bytes }) => sum + bytes, 0)
    const start = performance.now()
    const echo = await timeEchoes(typist)
    await until(
      'it has run long enough',
      () => performance.now() - start > 1000 * count('seconds'),
      1000 * count('seconds') + 60_000,
    )
    const passed = viewers.reduce((sum, { bytes }) => sum + bytes, 0) - before
    const mbitSeen = (8 * passed) / 1e3 / (performance.now() - start)
    return { memory: await memoryOf(console.pid), mbitSeen, echo }
  } finally {
    for (const viewer of viewers) viewer[Symbol.dispose]()
  }
}

async function timeEchoes(viewer: Viewer): Promise<Weighed['echo']> {
  const times: number[] = []
  for (let n = 0; n < ECHOES; n += 1) {
    const start = performance.now()
    await viewer.echo(`key ${n};`)
    times.push(performance.now() - start)
  }
  times.sort((a, b) => a - b)
  const at = (part: number) => round(times[Math.floor(part * times.length)] ?? 0)
  return { median: at(0.5), p99: at(0.99) }
}

/** The memory of websockify per screen: it has a process for each, so a hundred can be extrapolated to a thousand. */
async function weighBare(paints: number): Promise<number> {
  await using bare = await startWebsockify(small.authority, paints)
  const viewers: Viewer[] = []
  try {
    await inTurns(Array.from({ length: count('bare') }), 8, async () => {
      viewers.push(await bare.look())
    })
    await sleep(5000)
    return (await bare.memory()) / count('bare')
  } finally {
    for (const viewer of viewers) viewer[Symbol.dispose]()
  }
}
