import assert from 'node:assert/strict'
import { test } from 'node:test'

import {
  authList,
  authPolkit,
  AuthenticationNeeded,
  CallAborted,
  CallTimedOut,
  connectClose,
  connectGetHostname,
  Connection,
  connectOpen,
  domainLookupByName,
  LibvirtError,
  LinkLost,
  memoryPair,
  ProtocolError,
  XdrError,
} from '../src/index.ts'
import { ManualTimers } from './manual-timers.ts'
import { connectPair, readArgs, ScriptedServer } from './scripted-server.ts'

function dial(): { server: ScriptedServer; timers: ManualTimers; opening: Promise<Connection> } {
  const [transport, other] = memoryPair()
  const server = new ScriptedServer(other)
  const timers = new ManualTimers()
  const options = {
    socket: '',
    uri: 'test:///default',
    transport,
    timers,
    keepalive: false,
  } as const
  const opening = Connection.open(options)
  opening.catch(() => {})
  return { server, timers, opening }
}

test('opening negotiates authentication first and then opens the driver', async () => {
  const { server, opening } = dial()
  const first = await server.next()
  assert.equal(first.procedure, authList.number)
  assert.equal(server.unread, 0)
  server.reply(first, authList.ret, { types: [0] })
  const second = await server.next()
  assert.deepEqual(readArgs(second, connectOpen.args), { name: 'test:///default', flags: 0 })
  server.reply(second, connectOpen.ret, undefined)
  const connection = await opening
  assert.ok(connection.isOpen)
})

test('polkit is supported; a server that requires a password is rejected with a message', async () => {
  const polkit = dial()
  polkit.server.reply(await polkit.server.next(), authList.ret, { types: [2] })
  const requested = await polkit.server.next()
  assert.equal(requested.procedure, authPolkit.number)
  polkit.server.reply(requested, authPolkit.ret, { complete: 1 })
  polkit.server.reply(await polkit.server.next(), connectOpen.ret, undefined)
  await polkit.opening

  const sasl = dial()
  sasl.server.reply(await sasl.server.next(), authList.ret, { types: [1] })
  await assert.rejects(sasl.opening, AuthenticationNeeded)
  assert.ok(sasl.server.isClosed)
})

test('opening fails if libvirt returns an error, is late, is aborted or disconnects', async () => {
  const refused = dial()
  refused.server.refuse(await refused.server.next(), 38, 'no')
  await assert.rejects(refused.opening, LibvirtError)

  const late = dial()
  await late.server.next()
  late.timers.advance(30_000)
  await assert.rejects(late.opening, CallTimedOut)
  assert.equal(late.timers.pending, 0)

  const gone = dial()
  await gone.server.next()
  gone.server.transport.destroy()
  await assert.rejects(gone.opening, LinkLost)

  const [transport] = memoryPair()
  const signal = AbortSignal.abort(new Error('enough'))
  const given = Connection.open({ socket: '', uri: '', transport, signal })
  await assert.rejects(given, CallAborted)
})

test('a missing socket is a lost link with the reason', async () => {
  const opening = Connection.open({ socket: '/nonexistent/libvirt-sock', uri: 'test:///default' })
  await assert.rejects(opening, (error: unknown) => {
    assert.ok(error instanceof LinkLost)
    assert.match(error.message, /ENOENT/)
    assert.ok(error.cause instanceof Error)
    return true
  })
})

test('answers are matched to their calls in any order', async () => {
  await using pair = await connectPair()
  const { connection, server } = pair
  const names = ['a', 'b', 'c', 'd']
  const calls = names.map((name) => connection.call(domainLookupByName, { name }))
  const requested = [
    await server.next(),
    await server.next(),
    await server.next(),
    await server.next(),
  ]
  for (const one of requested.toReversed()) {
    const { name } = readArgs(one, domainLookupByName.args)
    const dom = { name: `${name}!`, uuid: new Uint8Array(16), id: -1 }
    server.reply(one, domainLookupByName.ret, { dom })
  }
  const answers = await Promise.all(calls)
  assert.deepEqual(
    answers.map(({ dom }) => dom.name),
    ['a!', 'b!', 'c!', 'd!'],
  )
})

test('calls of one tick are sent in one write', async () => {
  const [transport, other] = memoryPair()
  const server = new ScriptedServer(other)
  let writes = 0
  const counted = {
    ...boundTransport(transport),
    write(chunks: readonly Buffer[]) {
      writes += chunks.length
      return transport.write(chunks)
    },
  }
  const opening = Connection.open({ socket: '', uri: '', transport: counted, keepalive: false })
  await server.welcome({ keepalive: false })
  const connection = await opening
  writes = 0
  const calls = Array.from({ length: 100 }, () => connection.call(connectGetHostname, undefined))
  for (const _ of calls)
    server.reply(await server.next(), connectGetHostname.ret, { hostname: 'h' })
  await Promise.all(calls)
  assert.equal(writes, 1)
})

function boundTransport(transport: ReturnType<typeof memoryPair>[0]) {
  return {
    start: transport.start.bind(transport),
    pause: transport.pause.bind(transport),
    resume: transport.resume.bind(transport),
    destroy: transport.destroy.bind(transport),
  }
}

test('an error of libvirt keeps its code, message and details', async () => {
  await using pair = await connectPair()
  const call = pair.connection.call(domainLookupByName, { name: 'x' })
  pair.server.refuse(await pair.server.next(), 42, 'Domain not found')
  await assert.rejects(call, (error: unknown) => {
    assert.ok(error instanceof LibvirtError)
    assert.equal(error.message, 'Domain not found')
    const { procedure, code, domain, level, str1, str2, int1, int2 } = error
    assert.deepEqual(
      { procedure, code, domain, level, str1, str2, int1, int2 },
      {
        procedure: 'domainLookupByName',
        code: 42,
        domain: 10,
        level: 2,
        str1: 'one',
        str2: null,
        int1: 7,
        int2: -1,
      },
    )
    return true
  })
})

test('a call that takes too long fails alone, and its late answer is ignored', async () => {
  await using pair = await connectPair()
  const { connection, server, timers } = pair
  const slow = connection.call(connectGetHostname, undefined, { timeoutMs: 50 })
  const patient = connection.call(connectGetHostname, undefined)
  const [first, second] = [await server.next(), await server.next()]
  timers.advance(50)
  await assert.rejects(slow, (error: unknown) => {
    assert.ok(error instanceof CallTimedOut)
    assert.equal(error.sent, true)
    return true
  })
  server.reply(first, connectGetHostname.ret, { hostname: 'late' })
  server.reply(second, connectGetHostname.ret, { hostname: 'here' })
  assert.deepEqual(await patient, { hostname: 'here' })
  assert.ok(connection.isOpen)
  assert.equal(timers.pending, 0)
})

test('the default timeout is that of open, and 0 means no limit', async () => {
  await using pair = await connectPair({ timeoutMs: 100 })
  const { connection, server, timers } = pair
  const limited = connection.call(connectGetHostname, undefined)
  const unlimited = connection.call(connectGetHostname, undefined, { timeoutMs: 0 })
  await server.next()
  timers.advance(1_000_000)
  await assert.rejects(limited, CallTimedOut)
  server.reply(await server.next(), connectGetHostname.ret, { hostname: 'h' })
  assert.deepEqual(await unlimited, { hostname: 'h' })
})

test('a signal aborts a call, before it is sent or after, and its listener is removed', async () => {
  await using pair = await connectPair()
  const { connection, server } = pair
  const reason = new Error('changed my mind')
  const never = connection.call(connectGetHostname, undefined, {
    signal: AbortSignal.abort(reason),
  })
  await assert.rejects(never, (error: unknown) => {
    assert.ok(error instanceof CallAborted)
    assert.deepEqual([error.sent, error.cause], [false, reason])
    return true
  })
  const controller = new AbortController()
  const { signal } = controller
  const unsent = connection.call(connectGetHostname, undefined, { signal })
  controller.abort(reason)
  await assert.rejects(unsent, { name: 'CallAborted', sent: false })

  const second = new AbortController()
  const sent = connection.call(connectGetHostname, undefined, { signal: second.signal })
  const requested = await server.next()
  second.abort(reason)
  await assert.rejects(sent, { name: 'CallAborted', sent: true })
  server.reply(requested, connectGetHostname.ret, { hostname: 'late' })

  const call = connection.call(connectGetHostname, undefined, { signal: second.signal })
  await assert.rejects(call, CallAborted)
  assert.equal(server.unread, 0)
})

test('calls aborted while the server does not read are removed from the queue', async () => {
  await using pair = await connectPair()
  const { connection, server, timers } = pair
  server.transport.pause()
  const name = 'x'.repeat(100_000)
  const filling = connection.call(domainLookupByName, { name }, { timeoutMs: 0 })
  await new Promise(setImmediate)
  const calls = Array.from({ length: 2_000 }, () =>
    connection.call(connectGetHostname, undefined, { timeoutMs: 10 }),
  )
  timers.advance(10)
  for (const call of calls) await assert.rejects(call, { name: 'CallTimedOut', sent: false })
  server.transport.resume()
  const dom = { name: '', uuid: new Uint8Array(16), id: 1 }
  server.reply(await server.next(), domainLookupByName.ret, { dom })
  await filling
  assert.ok(connection.isOpen)
  assert.equal(server.unread, 0)
})

test('a server that leaves a thousand calls unanswered counts as dead', async () => {
  await using pair = await connectPair()
  const { connection, server, timers } = pair
  const calls = Array.from({ length: 1_100 }, () =>
    connection.call(connectGetHostname, undefined, { timeoutMs: 10 }),
  )
  await server.next()
  timers.advance(10)
  await Promise.allSettled(calls)
  assert.match((await connection.closed).message, /unanswered/)
})

test('a lost link fails every waiter at once and everything afterwards', async () => {
  await using pair = await connectPair()
  const { connection, server, timers } = pair
  const calls = Array.from({ length: 500 }, () => connection.call(connectGetHostname, undefined))
  await server.next()
  server.transport.destroy()
  const results = await Promise.allSettled(calls)
  for (const result of results) {
    assert.ok(result.status === 'rejected' && result.reason instanceof LinkLost)
    assert.equal(result.reason.procedure, 'connectGetHostname')
  }
  assert.ok((await connection.closed) instanceof LinkLost)
  assert.equal(connection.isOpen, false)
  assert.equal(timers.pending, 0)
  await assert.rejects(connection.call(connectGetHostname, undefined), LinkLost)
  await connection[Symbol.asyncDispose]()
})

test('an invalid answer fails its call and keeps the link', async () => {
  await using pair = await connectPair()
  const { connection, server } = pair
  for (const payload of ['', '00000001', '0000000461626364ffffffff', 'ffffffff']) {
    const call = connection.call(connectGetHostname, undefined)
    const requested = await server.next()
    const frame = server.frame({ ...requested, type: 1, status: 0 }, connectClose.ret, undefined)
    const whole = Buffer.concat([frame, Buffer.from(payload, 'hex')])
    whole.writeUInt32BE(whole.length)
    server.send(whole)
    await assert.rejects(call, ProtocolError)
  }
  assert.ok(connection.isOpen)
})

test('a protocol violation ends the link', async () => {
  const wrong = [
    { serial: 999 },
    { program: 0x20008087 },
    { program: 5 },
    { procedure: 1 },
    { status: 2 },
    { status: 77 },
    { type: 0 },
    { type: 5 },
    { type: 200 },
    { type: 2, status: 1 },
    { program: 0x6b656570 },
  ]
  for (const change of wrong) {
    await using pair = await connectPair()
    const { connection, server } = pair
    const call = connection.call(connectGetHostname, undefined)
    const requested = await server.next()
    const header = { ...requested, type: 1, status: 0, ...change }
    server.send(server.frame(header, connectGetHostname.ret, { hostname: 'h' }))
    await assert.rejects(call, LinkLost, JSON.stringify(change))
    assert.ok((await connection.closed).cause instanceof ProtocolError)
  }
})

test('a duplicate answer ends the link', async () => {
  await using pair = await connectPair()
  const { connection, server } = pair
  const call = connection.call(connectGetHostname, undefined)
  const requested = await server.next()
  server.reply(requested, connectGetHostname.ret, { hostname: 'h' })
  await call
  server.reply(requested, connectGetHostname.ret, { hostname: 'h' })
  assert.ok((await connection.closed) instanceof LinkLost)
})

test('arguments that cannot be encoded fail their call only', async () => {
  await using pair = await connectPair()
  const { connection, server } = pair
  await assert.rejects(connection.call(domainLookupByName, { name: 'a\0b' }), XdrError)
  const call = connection.call(connectGetHostname, undefined)
  server.reply(await server.next(), connectGetHostname.ret, { hostname: 'h' })
  assert.deepEqual(await call, { hostname: 'h' })
})

test('disposal sends a close call, waits briefly for the answer and ends pending calls', async () => {
  const { connection, server, timers } = await connectPair()
  const waiting = connection.call(connectGetHostname, undefined)
  await server.next()
  const disposing = connection[Symbol.asyncDispose]()
  const requested = await server.next()
  assert.equal(requested.procedure, connectClose.number)
  timers.advance(1_000)
  await disposing
  await assert.rejects(waiting, LinkLost)
  assert.equal(connection.isOpen, false)
  assert.equal(timers.pending, 0)
})
