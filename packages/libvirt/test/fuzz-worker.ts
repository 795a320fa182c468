// Run in a thread by fuzz.slow.ts: the test runner tracks every promise of its own thread, which would be
// most of the work here.
import assert from 'node:assert/strict'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { parentPort } from 'node:worker_threads'

import { seededRandom, type SeededRandom } from '../../../tools/lab/src/system/seeded-random.ts'
import * as libvirt from '../src/index.ts'
import { arbitrary } from './arbitrary.ts'
import { connectPair, type Asked, type Pair } from './scripted-server.ts'

const MESSAGES = 100_000
const SEED = 20_240_601
const CALLS_AT_ONCE = 4
const TIMEOUT_MS = 100

type AnyProcedure = libvirt.Procedure<unknown, unknown>

const everything = Object.values(libvirt) as unknown[]
const procedures = everything.filter(
  (one): one is AnyProcedure => isObject(one) && 'args' in one && !('stream' in one),
)
const events = everything.filter(
  (one): one is libvirt.DomainEvent<unknown> => isObject(one) && 'body' in one && 'id' in one,
)
const EDGES = [0, 1, 2, 3, 4, 5, 6, 27, 28, 29, 0x7fffffff, 0x80000000, 0xffffffff, 0x2000004]

function isObject(one: unknown): one is object {
  return typeof one === 'object' && one !== null
}

interface Open {
  readonly requested: Asked
  readonly procedure: AnyProcedure
  settled: boolean
}

interface World extends Pair {
  readonly stream: Asked
}

export interface Fuzzed {
  readonly counts: Counts
  readonly growth: number
}

async function fuzz(): Promise<Fuzzed> {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  // There are tens of thousands of errors, and their stacks are not used.
  Error.stackTraceLimit = 0
  const random = seededRandom(SEED)
  const counts = { sent: 0, links: 0, answered: 0, refused: 0, lost: 0, timedOut: 0, unreadable: 0 }
  let context = await openContext(random)
  let before = 0
  while (counts.sent < MESSAGES) {
    if (!context.connection.isOpen) {
      counts.links += 1
      context = await openContext(random)
    }
    await round(context, random, counts)
    if (before === 0 && counts.sent > MESSAGES / 10) before = await bytesInUse(collectGarbage)
  }
  await context[Symbol.asyncDispose]()
  return { counts, growth: (await bytesInUse(collectGarbage)) - before }
}

async function bytesInUse(collectGarbage: () => void): Promise<number> {
  // Objects found dead by the first collection free their external memory only later.
  for (let times = 0; times < 3; times += 1) {
    collectGarbage()
    await turn()
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

/** A link with a subscription and a stream. */
async function openContext(random: SeededRandom): Promise<World> {
  const pair = await connectPair({ timeoutMs: TIMEOUT_MS })
  const { connection, server } = pair
  const event = events[random.below(events.length)] ?? libvirt.domainEventLifecycle
  const subscribing = connection.domainEvents(event)
  const register = libvirt.connectDomainEventCallbackRegisterAny
  server.reply(await server.next(), register.ret, { callbackID: 1 })
  const subscription = await subscribing
  subscription.next().catch(checkError)
  const args = { dom: { name: 'vm', uuid: new Uint8Array(16), id: 1 }, screen: 0, flags: 0 }
  const opening = connection.openStream(libvirt.domainScreenshot, args)
  const stream = await server.next()
  server.reply(stream, libvirt.domainScreenshot.ret, { mime: null })
  const opened = await opening
  opened.stream.on('error', checkError)
  opened.stream.resume()
  return { ...pair, stream, [Symbol.asyncDispose]: pair[Symbol.asyncDispose].bind(pair) }
}

type Counts = Record<string, number> & { sent: number }

async function round(context: World, random: SeededRandom, counts: Counts): Promise<void> {
  const { connection, server, timers } = context
  const started = Array.from({ length: 1 + random.below(CALLS_AT_ONCE) }, () => {
    const procedure = procedures[random.below(procedures.length)]
    assert.ok(procedure !== undefined)
    return { procedure, call: connection.call(procedure, arbitrary(procedure.args, random)) }
  })
  await turn()
  const calls: Open[] = []
  let cutOff = false
  for (const { call, procedure } of started) {
    const open: Open = { requested: await nextCall(context, procedure), procedure, settled: false }
    call.then(
      () => settle(open, counts, 'answered'),
      (error: unknown) => settle(open, counts, outcomeOf(error)),
    )
    calls.push(open)
  }
  for (const open of calls) {
    const message = mutate(someMessage(context, open, random), random)
    for (const piece of cut(message, random)) server.send(piece)
    counts.sent += 1
    cutOff ||= message.length < 4 || message.readUInt32BE(0) !== message.length
  }
  await turn()
  timers.advance(TIMEOUT_MS)
  await turn()
  for (const { settled, procedure } of calls) assert.ok(settled, `${procedure.name} still waits`)
  // After a wrong length the client would wait for more bytes indefinitely.
  if (cutOff) server.transport.destroy()
  await turn()
}

/** The client may send another message in between: a pong, an abort, a deregistration. */
async function nextCall({ server }: World, { program, number }: AnyProcedure): Promise<Asked> {
  for (;;) {
    const requested = await server.next()
    if (requested.type === 0 && requested.program === program && requested.procedure === number)
      return requested
  }
}

function settle(open: Open, counts: Counts, outcome: string): void {
  open.settled = true
  counts[outcome] = (counts[outcome] ?? 0) + 1
}

function outcomeOf(error: unknown): string {
  if (error instanceof libvirt.LibvirtError) return 'refused'
  if (error instanceof libvirt.LinkLost) return 'lost'
  if (error instanceof libvirt.CallTimedOut) return 'timedOut'
  assert.ok(error instanceof libvirt.ProtocolError, String(error))
  return 'unreadable'
}

function checkError(error: unknown): void {
  assert.ok(
    error instanceof libvirt.LibvirtError ||
      error instanceof libvirt.LinkLost ||
      error instanceof libvirt.ProtocolError ||
      error instanceof libvirt.EventsLost,
    String(error),
  )
}

/** A plausible message of a server at this point. */
function someMessage({ server, stream }: World, open: Open, random: SeededRandom): Buffer {
  const { requested, procedure } = open
  const errorBody = libvirt.errorBody
  switch (random.below(12)) {
    case 0:
    case 1: {
      const header = { ...requested, type: 1, status: 1 }
      const body = arbitrary(errorBody, random) as libvirt.Value<typeof errorBody>
      return server.frame(header, errorBody, body)
    }
    case 2: {
      const event = events[random.below(events.length)]
      assert.ok(event !== undefined)
      const header = { program: event.program, procedure: event.number, type: 2, serial: 0 }
      const body = server.frame({ ...header, status: 0 }, event.body, arbitrary(event.body, random))
      const whole = Buffer.concat([body.subarray(0, 28), Buffer.of(0, 0, 0, 1), body.subarray(28)])
      whole.writeUInt32BE(whole.length)
      return whole
    }
    case 3: {
      const type = random.below(8) === 0 ? 6 : 3
      const status = random.below(8) === 0 ? random.below(3) : 2
      const data = random.bytes(random.below(64))
      const frame = server.frame(
        { ...stream, type, status },
        procedure.ret,
        arbitrary(procedure.ret, random),
      )
      return random.below(2) === 0 ? frame : withPayload(frame, data)
    }
    case 4: {
      const header = { program: 0x6b656570, procedure: 1 + random.below(2), type: 2 }
      const frame = server.frame(
        { ...header, serial: 0, status: 0 },
        procedure.ret,
        arbitrary(procedure.ret, random),
      )
      return withPayload(frame, Buffer.alloc(0))
    }
    default:
      return server.frame(
        { ...requested, type: 1, status: 0 },
        procedure.ret,
        arbitrary(procedure.ret, random),
      )
  }
}

function withPayload(frame: Buffer, payload: Buffer): Buffer {
  const whole = Buffer.concat([frame.subarray(0, 28), payload])
  whole.writeUInt32BE(whole.length)
  return whole
}

/** Applies one or more mutations to the message; sometimes none. */
function mutate(message: Buffer, random: SeededRandom): Buffer {
  let bytes: Buffer = Buffer.from(message)
  for (let times = random.below(4); times > 0; times -= 1) bytes = mutateOnce(bytes, random)
  return bytes
}

function mutateOnce(bytes: Buffer, random: SeededRandom): Buffer {
  const at = random.below(Math.max(bytes.length, 1))
  // Mostly after the header: an invalid header is rejected early.
  const inBody = bytes.length > 32 && random.below(6) > 0
  const word = inBody ? 28 + (random.below(bytes.length - 31) & ~3) : at & ~3
  switch (random.below(6)) {
    case 0: {
      if (bytes.length === 0) return bytes
      const bit = inBody ? Math.max(28, at) : at
      bytes[bit] = (bytes[bit] ?? 0) ^ (1 << random.below(8))
      return bytes
    }
    case 1:
    case 2:
      if (word + 4 <= bytes.length) {
        bytes.writeUInt32BE(EDGES[random.below(EDGES.length)] ?? 0, word)
      }
      return bytes
    case 3:
      return fixLength(bytes.subarray(0, Math.max(28, at)), random)
    case 4: {
      const more = random.bytes(random.below(40))
      return fixLength(Buffer.concat([bytes.subarray(0, word), more, bytes.subarray(word)]), random)
    }
    default:
      return fixLength(Buffer.concat([bytes, random.bytes(1 + random.below(12))]), random)
  }
}

/** Mostly corrects the length, otherwise nothing after it would be parsed. */
function fixLength(bytes: Buffer, random: SeededRandom): Buffer {
  if (bytes.length >= 4 && random.below(8) > 0) bytes.writeUInt32BE(bytes.length)
  return bytes
}

function cut(message: Buffer, random: SeededRandom): Buffer[] {
  if (random.below(3) > 0 || message.length < 2) return [message]
  const at = 1 + random.below(message.length - 1)
  return [message.subarray(0, at), message.subarray(at)]
}

function turn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve))
}

parentPort?.postMessage(await fuzz(), [])
