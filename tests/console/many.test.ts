// Goal: many screens at once cost little, a viewer that does not read costs no more, and unauthenticated connections that are
// silent or malformed do not affect viewers. Method: one console process, a hundred screens that paint, and its memory.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

import { reasonWithoutRoot, until } from '@skerry/lab'
import type { VmId } from '@skerry/vm'

import type { User } from '../../apps/cloud/test/console-database.ts'
import type { ConsoleProcess } from './console-process.ts'
import { malformedFrames, malformedHandshakes } from './malformed.ts'
import { startSmallConsole, type SmallConsole } from './small-console.ts'
import { connectTo, inTurns, mustLook, shake, type Viewer } from './viewer.ts'

const skip = reasonWithoutRoot('cloud') ?? false
const VIEWERS = 100
const MIB = 1024 * 1024
/** Two TLS connections, their buffers, and garbage that V8 has not yet collected. */
const EACH_MOST = 2 * MIB

let small: SmallConsole
let vms: VmId[]
let users: User[]
let console1: ConsoleProcess
before(async () => {
  if (skip) return
  // Each paints as fast as it can.
  small = await startSmallConsole({ consoles: 1, hosts: 1, paints: Infinity })
  vms = await small.addVms(25)
  users = await small.users(5)
  console1 = small.consoles[0] as ConsoleProcess
})
after(async () => {
  await small?.[Symbol.asyncDispose]()
})

const asking = async (at: number) => {
  const [vm, user] = [vms[at % vms.length], users[at % users.length]]
  if (vm === undefined || !user) throw new Error('no VM or no user')
  const ticket = await small.ticket(vm, user)
  return { url: console1.url, ca: small.authority.site, vm, ticket }
}

test(
  'a hundred screens at once, all painted without end, and viewers that read none of it',
  { skip },
  async (t) => {
    const viewers: Viewer[] = []
    try {
      const before = await console1.memory()
      await inTurns(Array.from({ length: VIEWERS - 1 }), 10, async (_, at) => {
        const viewer = await mustLook(await asking(at))
        viewer.pause()
        viewers.push(viewer)
      })
      assert.equal(viewers.length, VIEWERS - 1)
      // By then the kernel's buffers and ours are full, and the process reads no more of it.
      await untilIdle(console1.pid)
      const full = await console1.memory()
      const reader = await mustLook(await asking(VIEWERS - 1))
      viewers.push(reader)
      const began = reader.bytes
      await until('the reading viewer gets 64 MiB', () => reader.bytes - began > 64 * MIB, 60_000)
      const later = await console1.memory()
      t.diagnostic(
        `a console in MiB: ${[before, full, later].map((each) => Math.round(each / MIB)).join(', ')}`,
      )
      assert.ok(
        full - before < VIEWERS * EACH_MOST,
        `viewers that do not read took ${full - before} bytes`,
      )
      assert.ok(later - full < 64 * MIB, `meanwhile it grew by ${later - full} bytes`)
      assert.ok(viewers.every(({ socket }) => socket.readyState === socket.OPEN))
    } finally {
      for (const viewer of viewers) viewer[Symbol.dispose]()
    }
    const shown = () => vms.reduce((sum, vm) => sum + (small.hosts[0]?.host.viewersOf(vm) ?? 0), 0)
    await until('every display is released', () => shown() === 0, 60_000)
    await small.settled(0)
  },
)

const LOOK_MS = 200
const LOOKS = 10
/** Its traffic with the database, twice a second. */
const HARDLY = 64 * 1024

/** Waits until a process is idle at each sample, and has read hardly anything between two samples. */
async function untilIdle(pid: number): Promise<void> {
  let [quiet, last] = [0, -1]
  const isIdle = async () => {
    await sleep(LOOK_MS)
    const read = Number(/^rchar: (\d+)$/m.exec(await readFile(`/proc/${pid}/io`, 'latin1'))?.[1])
    const [, state] = /^\d+ \(.*\) (\w)/s.exec(await readFile(`/proc/${pid}/stat`, 'latin1')) ?? []
    quiet = state === 'S' && read - last < HARDLY ? quiet + 1 : 0
    last = read
    return quiet >= LOOKS
  }
  await until('painting becomes idle', isIdle, 60_000)
}

/** A thousand in all, in rounds: a leak grows with every connection, while uncollected garbage appears once. */
const ROUNDS = 3
const STRANGERS = { halves: 167, handshakes: 100, frames: 67 }
/** A leak of 50 KiB per connection would be found. */
const ROUND_MOST = (50 * MIB) / ROUNDS

test(
  'a thousand half-open connections and malformed handshakes and frames end nothing but themselves',
  { skip, timeout: 180_000 },
  async (t) => {
    using good = await mustLook(await asking(0))
    const rests: number[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const during = good.bytes
      const halves = connectHalf(STRANGERS.halves)
      await inTurns(malformedHandshakes(STRANGERS.handshakes), 30, sayMalformed)
      await inTurns(malformedFrames(STRANGERS.frames), 20, showMalformed)
      await Promise.all(
        halves.map((socket) =>
          until(
            'the half-open connection is closed',
            () => socket.closed || socket.readableEnded,
            60_000,
          ),
        ),
      )
      for (const socket of halves) socket.destroy()
      assert.ok(good.bytes > during, 'the valid screen continued')
      assert.equal(good.socket.readyState, good.socket.OPEN)
      await small.settled(1)
      rests.push(await console1.memory())
    }
    t.diagnostic(
      `after each round in MiB: ${rests.map((each) => Math.round(each / MIB)).join(', ')}`,
    )
    const grown = rests.slice(1).map((rest, at) => rest - (rests[at] ?? 0))
    assert.ok(Math.min(...grown) < ROUND_MOST, `every round took memory: ${grown.join(', ')} bytes`)
    using another = await mustLook(await asking(1))
    assert.ok(another.bytes > 0)
  },
)

/** They send nothing at all, or begin a TLS handshake and stop. */
function connectHalf(count: number): Socket[] {
  const { hostname: host, port } = new URL(console1.url)
  return Array.from({ length: count }, (_, at) => {
    const socket = connect({ host, port: Number(port) })
    socket.on('error', () => undefined)
    if (at % 2 === 0) socket.write(Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01]))
    return socket
  })
}

async function sayMalformed(text: string | Buffer): Promise<void> {
  const socket = await connectTo(console1.url, small.authority.site)
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  socket.resume()
  socket.write(text)
  await closed
}

async function showMalformed(frame: Buffer, at: number): Promise<void> {
  const { vm, ticket } = await asking(at)
  const socket = await connectTo(console1.url, small.authority.site)
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  assert.equal(await shake(socket, { vm, ticket }, { keep: true }), 101)
  socket.resume()
  socket.write(frame)
  await closed
}
