// Goal: requests, responses and faults arrive unchanged, and only authorised peers are served. Method: real TLS with
// certificates of openssl, and the lab's simulated host behind it.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { PassThrough } from 'node:stream'
import { after, before, test } from 'node:test'

import { Fault, retryableKinds } from '@skerry/fault'
import { startIssuer, type KeyPair, type TestIssuer } from '@skerry/lab'
import { simulatedHost } from '@skerry/lab/simulated-host'
import type { HostId, Order, TaskId, VmId } from '@skerry/vm'

import { admitPeers } from '../src/admit.ts'
import {
  connectHost,
  hostServer,
  isDistrust,
  type Epochs,
  type Goal,
  type HostApi,
} from '../src/index.ts'
import { serveHost } from '../src/serve.ts'

const spec = {
  org: 'o',
  vApp: 'v',
  name: 'n',
  cpus: 1,
  memoryMiB: 64,
  diskMiB: 64,
  image: '0'.repeat(64),
}
const defined: Goal = { goal: 'defined', spec }
const on: Goal = { goal: 'power', to: 'on' }
const vm = '7b0f0dc1-1111-4222-8333-444455556666' as VmId
const orderOf = (step: string, number: number, more: Partial<Order> = {}): Order => ({
  vm,
  task: 't' as TaskId,
  key: `t/${step}`,
  fencingToken: String(number),
  incarnation: '1',
  ...more,
})

let control: TestIssuer | undefined
let hosts: TestIssuer | undefined
let cell: KeyPair | undefined
before(async () => {
  control = await startIssuer('control')
  hosts = await startIssuer('hosts')
  cell = await control.issue('URI:skerry://lab/cell/c1')
})
after(async () => {
  await control?.[Symbol.asyncDispose]()
  await hosts?.[Symbol.asyncDispose]()
})

function epochsFrom(highest = 0): Epochs & { highest: number } {
  const epochs = {
    highest,
    async raise(epoch: number) {
      epochs.highest = epoch
    },
  }
  return epochs
}

async function listen(host: HostApi, { id = 'h1', epochs = epochsFrom(), within = 20_000 } = {}) {
  assert(control && hosts && cell)
  const pair = await hosts.issue(`URI:skerry://lab/host/${id}`)
  const server =
    within === 20_000
      ? hostServer({ ...pair, ca: control.cert }, host, { cloud: 'lab', epochs })
      : createServer({ ...pair, ca: control.cert, requestCert: true, rejectUnauthorized: true })
  if (within !== 20_000) {
    const admit = admitPeers({ cloud: 'lab', epochs })
    serveHost(server, host, { admit, answerWithinMs: within })
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const links: Disposable[] = []
  const connect = (as: KeyPair = cell as KeyPair, hostId = 'h1', ca = hosts?.cert ?? '') => {
    const target = { address: '127.0.0.1', port, tls: { ...as, ca }, hostId: hostId as HostId }
    const link = connectHost(target)
    links.push(link)
    return link
  }
  return {
    connect,
    async [Symbol.asyncDispose]() {
      for (const link of links) link[Symbol.dispose]()
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

test('a step is executed, its repetition returns the same result, and a rejection has the host’s message', async () => {
  const host = simulatedHost()
  await using server = await listen(host)
  const link = server.connect()
  const made = await link.step(orderOf('define', 5), defined)
  assert.equal(made.vm?.power, 'off')
  const report = await link.step(orderOf('power', 5), on)
  assert.equal(report.vm?.power, 'on')
  assert.deepEqual(await link.step(orderOf('power', 6), on), report)
  assert.deepEqual(host.done, ['t/define', 't/power'])
  await assert.rejects(link.step(orderOf('power', 4), on), (fault) => {
    assert(fault instanceof Fault)
    assert.deepEqual([fault.kind, fault.detail], ['stale', '6'])
    return true
  })
  await assert.rejects(link.step(orderOf('reset', 6, { from: ['off'] }), { goal: 'reset' }), {
    kind: 'wrong-state',
    detail: 'on',
  })
  const records = await Array.fromAsync(link.records())
  assert.deepEqual(records, [{ vm, incarnation: '1', highest: '6', task: 't', spec, exists: true }])
})

test('an invalid step is rejected before anything is done', async () => {
  const host = simulatedHost()
  await using server = await listen(host)
  const link = server.connect()
  const wrong: readonly (readonly [Partial<Order>, unknown])[] = [
    [{}, { goal: 'exploded' }],
    [{}, { goal: 'power', to: 'paused' }],
    [{}, { goal: 'gone', path: '/etc' }],
    [{}, { goal: 'image', digest: '../../etc/passwd' }],
    [{}, { goal: 'defined', spec: { ...spec, cpus: 0 } }],
    [{ fencingToken: '-1' }, on],
    [{ fencingToken: '1e9' }, on],
    [{ fencingToken: '007' }, on],
    [{ fencingToken: '9'.repeat(20) }, on],
    [{ incarnation: '' }, on],
    [{ vm: '../vm' as VmId }, on],
    [{ vm: '.' as VmId }, on],
    [{ key: 'k'.repeat(201) }, on],
    [{ from: ['asleep' as 'off'] }, on],
  ]
  for (const [order, goal] of wrong) {
    const requested = link.step(orderOf('x', 5, order), goal as Goal)
    await assert.rejects(requested, { kind: 'invalid' }, JSON.stringify([order, goal]))
  }
  assert.deepEqual(host.done, [])
})

test('a long step is requested again until it ends, and can be stopped', async () => {
  const end = Promise.withResolvers<{ session: string; seq: number }>()
  const requested: string[] = []
  const stopped: string[] = []
  const slow: HostApi = {
    ...forwarding(simulatedHost()),
    step: async (order, _goal, _signal, progress) => {
      requested.push(order.key)
      progress?.(30)
      return end.promise
    },
    stop: async (_vm, key) => void stopped.push(key),
  }
  await using server = await listen(slow, { within: 20 })
  const link = server.connect()
  const heard: number[] = []
  const done = link.step(orderOf('long', 5), on, undefined, (percent) => {
    if (heard.push(percent) === 3) end.resolve({ session: '1', seq: 8 })
  })
  assert.deepEqual(await done, { session: '1', seq: 8 })
  assert.deepEqual(heard, [30, 30, 30])
  assert.equal(requested.length, 4)
  await link.stop(vm, 't/long')
  assert.deepEqual(stopped, ['t/long'])
})

/** Retryable, by this cell or another: it does not concern the request itself. */
const isPassingDistrust = (error: unknown) =>
  isDistrust(error) && retryableKinds.has(error.kind) && error.message !== ''

test('only the host with the expected id is accepted, and no machine of another role', async () => {
  assert(control && hosts)
  const host = simulatedHost()
  await using server = await listen(host)
  const step = (link: HostApi) => link.step(orderOf('define', 5), defined)
  for (const link of [server.connect(cell, 'h2'), server.connect(cell, 'h1', control.cert)]) {
    await assert.rejects(step(link), isPassingDistrust)
  }
  assert.deepEqual(host.done, [])
})

test('only a cell of this cloud is served; a console opens screens and does nothing else', async () => {
  assert(control && hosts)
  const host = simulatedHost()
  await using server = await listen(host)
  const step = (link: HostApi) => link.step(orderOf('define', 5), defined)
  // Trusted issuer, wrong role.
  for (const role of ['console', 'workflow', 'host']) {
    const pair = await control.issue(`URI:skerry://lab/${role}/x`)
    await assert.rejects(step(server.connect(pair)), isPassingDistrust, role)
  }
  // Another issuer: the handshake fails, with any name.
  for (const name of ['URI:skerry://lab/host/h2', 'URI:skerry://lab/cell/c1']) {
    const pair = await hosts.issue(name)
    await assert.rejects(step(server.connect(pair)), { kind: 'unavailable' })
  }
  assert.deepEqual(host.done, [])
  const viewer = server.connect(await control.issue('URI:skerry://lab/console/k'))
  await assert.rejects(viewer.open(vm, 'wrong', new AbortController().signal), {
    kind: 'forbidden',
    message: 'invalid, used or expired screen ticket',
  })
  const screen = { vm, boot: 'b', ticketHash: '0'.repeat(64) }
  await assert.rejects(viewer.arm(screen), { kind: 'unavailable', message: /console may not/ })
  await assert.rejects(viewer.takeScreenshot(vm, 'b'), { message: /console may not/ })
})

test('a certificate of a lower epoch than the highest seen is rejected, also on an open connection', async () => {
  assert(control)
  const epochs = epochsFrom()
  const host = simulatedHost()
  await using server = await listen(host, { epochs })
  const old = server.connect()
  await old.step(orderOf('define', 5), defined)
  const name = 'URI:skerry://lab/cell/c2'
  const young = server.connect(await control.issue(name, 'URI:skerry://lab/epoch/1'))
  await young.step(orderOf('power', 6), on)
  assert.equal(epochs.highest, 1)
  await assert.rejects(old.step(orderOf('off', 7), { goal: 'power', to: 'off' }), {
    kind: 'unavailable',
    detail: 'distrust',
    message: /revoked/,
  })
  assert.equal(host.find(vm)?.power, 'on')
})

test('a session is followed over the network, and after an interruption the next one continues', async () => {
  const host = simulatedHost()
  await using server = await listen(host)
  const link = server.connect()
  await link.step(orderOf('define', 5), defined)
  const leaving = new AbortController()
  const seen: string[] = []
  for await (const line of link.follow('100', leaving.signal)) {
    seen.push(line.kind === 'vm' ? `${line.seq} ${line.vm?.power ?? 'gone'}` : line.kind)
    if (line.kind === 'listEnd') {
      assert.deepEqual(await link.ping('100', '77'), { highest: '77' })
      host.changePower(vm, 'on')
    }
    if (seen.at(-1)?.endsWith(' on')) break
  }
  leaving.abort()
  assert.deepEqual(seen, ['hello', '1 off', 'listEnd', '3 on'])
  await assert.rejects(link.ping('99', '78'), { kind: 'stale', detail: '100' })
  const lower = await Array.fromAsync(link.follow('99', AbortSignal.timeout(60_000)))
  assert.deepEqual(
    lower.map(({ kind }) => kind),
    ['hello'],
  )
  host.changePower(vm, 'off')
  const next = new AbortController()
  for await (const line of link.follow('101', next.signal)) {
    if (line.kind === 'vm') assert.equal(line.vm?.power, 'off')
    if (line.kind === 'listEnd') break
  }
})

test('a screen is a stream of bytes both ways, and ends with either side', async () => {
  const screens: PassThrough[] = []
  const opened: string[] = []
  const echo: HostApi = {
    ...forwarding(simulatedHost()),
    open: async (id, ticket) => {
      opened.push(`${id} ${ticket}`)
      const screen = new PassThrough()
      screens.push(screen)
      return screen
    },
  }
  await using server = await listen(echo)
  const link = server.connect()
  const never = new AbortController().signal
  const mine = await link.open(vm, 'ticket', never)
  mine.write('RFB 003.008\n')
  assert.equal(String((await once(mine, 'data'))[0]), 'RFB 003.008\n')
  assert.deepEqual(opened, [`${vm} ticket`])
  const closed = once(mine, 'close')
  screens[0]?.destroy()
  await closed
  const other = await link.open(vm, 'ticket', never)
  const gone = once(screens[1] as PassThrough, 'close')
  other.destroy()
  await gone
})

test('a screenshot arrives unchanged, of one boot only, and within the size limit', async () => {
  const host = simulatedHost()
  await using server = await listen(host)
  const link = server.connect()
  await link.step(orderOf('define', 5), defined)
  const { vm: seen } = await link.step(orderOf('power', 6), on)
  const boot = seen?.boot ?? ''
  assert.deepEqual(await link.takeScreenshot(vm, boot), await host.takeScreenshot(vm, boot))
  await assert.rejects(link.takeScreenshot(vm, 'another'), { kind: 'wrong-state' })
  await assert.rejects(link.takeScreenshot(vm, ''), { kind: 'invalid' })
  const huge = { ...forwarding(host), takeScreenshot: async () => Buffer.alloc(9 * 1024 * 1024) }
  await using other = await listen(huge)
  const refused = { kind: 'unavailable', message: /too large/ }
  await assert.rejects(other.connect().takeScreenshot(vm, boot), refused)
})

test('what a VM used arrives unchanged; an hour of it fits, and a window beyond it is rejected', async () => {
  const host = simulatedHost()
  await using server = await listen(host)
  const link = server.connect()
  await assert.rejects(link.readUsage(vm, { step: 15, points: 1 }), { kind: 'gone' })
  await link.step(orderOf('define', 5), defined)
  assert.deepEqual((await link.readUsage(vm, { step: 15, points: 240 })).cpuPercent, [])
  await link.step(orderOf('power', 5), on)
  const hour = { step: 15, points: 240 }
  assert.deepEqual(await link.readUsage(vm, hour), await host.readUsage(vm, hour))
  const beyond = link.readUsage(vm, { step: 15, points: 241 })
  await assert.rejects(beyond, { kind: 'invalid', message: /kept for an hour/ })
  const largest = Array.from({ length: 240 }, () => 1e12)
  const full = {
    ...forwarding(host),
    readUsage: async () => ({
      ...(await host.readUsage(vm, hour)),
      diskRead: largest,
      diskWrite: largest,
      netIn: largest,
      netOut: largest,
    }),
  }
  await using other = await listen(full)
  assert.deepEqual((await other.connect().readUsage(vm, hour)).netOut, largest)
})

test('an unreachable host gives the fault unavailable', async () => {
  const link = await (async () => {
    await using server = await listen(simulatedHost())
    const { connect } = server
    return connect()
  })()
  await assert.rejects(link.step(orderOf('define', 5), defined), { kind: 'unavailable' })
  await assert.rejects(Array.fromAsync(link.follow('1', AbortSignal.timeout(60_000))), {
    kind: 'unavailable',
  })
  link[Symbol.dispose]()
})

test('a hundred simulated hosts with fifty VMs each are listed in one process', async () => {
  const all = Array.from({ length: 100 }, () => simulatedHost())
  for (const host of all) {
    for (let index = 0; index < 50; index += 1) {
      const order = orderOf('define', 5, { vm: `vm-${index}` as VmId })
      await host.step(order, defined)
    }
  }
  const ended = new AbortController()
  const counts = await Promise.all(
    all.map(async (host) => {
      let count = 0
      for await (const line of host.follow('7', ended.signal)) {
        if (line.kind === 'vm') count += 1
        if (line.kind === 'listEnd') break
      }
      return count
    }),
  )
  assert.deepEqual(new Set(counts), new Set([50]))
})

/** The same host as an object whose parts can be replaced one by one. */
function forwarding(host: HostApi): HostApi {
  return {
    step: (...requested) => host.step(...requested),
    stop: (...requested) => host.stop(...requested),
    follow: (...requested) => host.follow(...requested),
    records: (...requested) => host.records(...requested),
    ping: (...requested) => host.ping(...requested),
    arm: (...requested) => host.arm(...requested),
    open: (...requested) => host.open(...requested),
    takeScreenshot: (...requested) => host.takeScreenshot(...requested),
    readUsage: (...requested) => host.readUsage(...requested),
    joinOverlay: (...requested) => host.joinOverlay(...requested),
  }
}
