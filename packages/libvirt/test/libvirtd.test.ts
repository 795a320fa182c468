import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

import * as libvirt from '../src/index.ts'
import { askPython, needsPython } from './ask-python.ts'
import { needsLibvirtd, startLibvirtd, type Libvirtd } from './start-libvirtd.ts'

const skip = needsLibvirtd
const uri = 'test:///default'

function open(
  { socket }: Libvirtd,
  options: Partial<libvirt.OpenOptions> = {},
): Promise<libvirt.Connection> {
  return libvirt.Connection.open({ socket, uri, ...options })
}

function domainXml(name: string): string {
  return `<domain type="test"><name>${name}</name><memory>8192</memory><os><type>hvm</type></os></domain>`
}

async function define(connection: libvirt.Connection, name: string): Promise<libvirt.Domain> {
  const args = { xml: domainXml(name), flags: 0 }
  const { dom } = await connection.call(libvirt.domainDefineXmlFlags, args)
  return dom
}

test('the answers are those that Python gets from the same daemon', { skip }, async (t) => {
  const missing = await needsPython()
  if (missing !== false) return t.skip(missing)
  await using daemon = await startLibvirtd()
  await using connection = await open(daemon)
  for (const name of ['one', 'zwei', 'три']) await define(connection, name)
  const python = await askPython(daemon.socket)
  const ask = <Ret>(procedure: libvirt.Procedure<void, Ret>): Promise<Ret> =>
    connection.call(procedure, undefined)
  const { dom } = await connection.call(libvirt.domainLookupByName, { name: 'test' })
  const { domains } = await connection.call(libvirt.connectListAllDomains, {
    needResults: 1,
    flags: 0,
  })
  const { nets } = await connection.call(libvirt.connectListAllNetworks, {
    needResults: 1,
    flags: 0,
  })
  const node = await ask(libvirt.nodeGetInfo)
  const state = await connection.call(libvirt.domainGetState, { dom, flags: 0 })
  const info = await connection.call(libvirt.domainGetInfo, { dom })
  const { retStats } = await connection.call(libvirt.connectGetAllDomainStats, {
    doms: [],
    stats: libvirt.DomainStatsTypes.state,
    flags: 0,
  })
  const refused = await connection
    .call(libvirt.domainLookupByName, { name: 'missing' })
    .catch((error: unknown) => error)
  assert.ok(refused instanceof libvirt.LibvirtError)
  assert.deepEqual(
    {
      hostname: (await ask(libvirt.connectGetHostname)).hostname,
      libVersion: Number((await ask(libvirt.connectGetLibVersion)).libVer),
      type: (await ask(libvirt.connectGetType)).type,
      capabilities: (await ask(libvirt.connectGetCapabilities)).capabilities,
      node: [
        node.model,
        Number(node.memory / 1024n),
        node.cpus,
        node.mhz,
        node.nodes,
        node.sockets,
        node.cores,
        node.threads,
      ],
      names: domains.map(({ name }) => name).sort(),
      uuid: libvirt.uuidToString(dom.uuid),
      state: [state.state, state.reason],
      info: [info.state, Number(info.maxMem), Number(info.memory), info.nrVirtCpu],
      xml: (await connection.call(libvirt.domainGetXmlDesc, { dom, flags: 0 })).xml,
      stats: retStats.map((one) => [
        one.dom.name,
        Object.fromEntries(libvirt.paramsToMap(one.params)),
      ]),
      networks: nets.map(({ name }) => name),
      refused: [refused.code, refused.domain, refused.message],
    },
    python,
  )
})

test('500 calls in flight each get their own answer', { skip }, async () => {
  await using daemon = await startLibvirtd()
  await using connection = await open(daemon)
  const names = Array.from({ length: 50 }, (_, index) => `vm-${index}`)
  await Promise.all(names.map((name) => define(connection, name)))
  const requested = Array.from({ length: 500 }, (_, index) =>
    index % 10 === 9 ? 'missing' : `vm-${index % 50}`,
  )
  const answers = await Promise.allSettled(
    requested.map((name) => connection.call(libvirt.domainLookupByName, { name })),
  )
  for (const [index, answer] of answers.entries()) {
    if (requested[index] !== 'missing') {
      assert.ok(answer.status === 'fulfilled')
      assert.equal(answer.value.dom.name, requested[index])
    } else {
      assert.ok(answer.status === 'rejected' && answer.reason instanceof libvirt.LibvirtError)
      assert.equal(answer.reason.code, libvirt.ErrorCode.noDomain)
    }
  }
})

test('a daemon that hangs costs a timeout and not the link', { skip }, async () => {
  await using daemon = await startLibvirtd()
  await using connection = await open(daemon)
  daemon.process.kill('SIGSTOP')
  const call = connection.call(libvirt.connectGetHostname, undefined, { timeoutMs: 50 })
  await assert.rejects(call, libvirt.CallTimedOut)
  const signal = AbortSignal.timeout(50)
  const given = connection.call(libvirt.connectGetHostname, undefined, { signal })
  await assert.rejects(given, libvirt.CallAborted)
  daemon.process.kill('SIGCONT')
  assert.ok((await connection.call(libvirt.connectGetHostname, undefined)).hostname)
})

test('a killed daemon fails every call, reader and stream at once', { skip }, async () => {
  await using daemon = await startLibvirtd()
  await using connection = await open(daemon)
  const events = await connection.domainEvents(libvirt.domainEventLifecycle)
  daemon.process.kill('SIGSTOP')
  const calls = Array.from({ length: 500 }, () =>
    connection.call(libvirt.connectGetHostname, undefined),
  )
  const settled = Promise.allSettled(calls)
  const reading = assert.rejects(events.next(), libvirt.LinkLost)
  const before = performance.now()
  daemon.process.kill('SIGKILL')
  for (const result of await settled) {
    assert.ok(result.status === 'rejected' && result.reason instanceof libvirt.LinkLost)
  }
  await reading
  assert.ok(performance.now() - before < 5_000)
  assert.ok((await connection.closed) instanceof libvirt.LinkLost)
  await assert.rejects(open(daemon), libvirt.LinkLost)
})

test('a daemon that no longer answers pings counts as dead', { skip }, async () => {
  await using daemon = await startLibvirtd()
  await using connection = await open(daemon, { keepalive: { intervalMs: 300, count: 9 } })
  // Longer than a silent daemon is tolerated.
  const quiet = sleep(3_300, 'open')
  assert.equal(await Promise.race([connection.closed, quiet]), 'open')
  daemon.process.kill('SIGSTOP')
  const call = connection.call(libvirt.connectGetHostname, undefined, { timeoutMs: 0 })
  await assert.rejects(call, libvirt.LinkLost)
  assert.match((await connection.closed).message, /silent/)
})

test("the daemon's own pings are answered", { skip }, async () => {
  await using daemon = await startLibvirtd(['keepalive_interval = 1', 'keepalive_count = 1'])
  await using connection = await open(daemon, { keepalive: { intervalMs: 60_000, count: 1 } })
  // The daemon disconnects a client that has not answered for two to three seconds.
  const quiet = sleep(3_500, 'open')
  assert.equal(await Promise.race([connection.closed, quiet]), 'open')
  assert.ok((await connection.call(libvirt.connectGetHostname, undefined)).hostname)
})

test('events arrive while subscribed, for the subscribed domain', { skip }, async () => {
  await using daemon = await startLibvirtd()
  await using connection = await open(daemon)
  const one = await define(connection, 'one')
  const two = await define(connection, 'two')
  const all = await connection.domainEvents(libvirt.domainEventLifecycle)
  await using onlyTwo = await connection.domainEvents(libvirt.domainEventLifecycle, { dom: two })
  for (const dom of [one, two]) {
    await connection.call(libvirt.domainCreateWithFlags, { dom, flags: 0 })
  }
  const seen: string[] = []
  for await (const { dom, event } of all) {
    if (event === libvirt.DomainEventType.started) seen.push(dom.name)
    if (seen.length === 2) break
  }
  assert.deepEqual(seen, ['one', 'two'])
  assert.equal((await onlyTwo.next()).value?.dom.name, 'two')
  await connection.call(libvirt.domainDestroyFlags, { dom: one, flags: 0 })
  await connection.call(libvirt.domainDestroyFlags, { dom: two, flags: 0 })
  const { value } = await onlyTwo.next()
  const { stopped } = libvirt.DomainEventType
  assert.deepEqual([value?.dom.name, value?.event], ['two', stopped])
  assert.deepEqual(await all.next(), { done: true, value: undefined })
})

test('the life of a domain: metadata, snapshots, save and resume', { skip }, async () => {
  await using daemon = await startLibvirtd()
  await using connection = await open(daemon)
  const dom = await define(connection, 'life')
  const call = connection.call.bind(connection)
  const flags = 0
  const { running, shutoff } = libvirt.DomainState
  const state = async (): Promise<number> =>
    (await call(libvirt.domainGetState, { dom, flags })).state
  const description = { dom, type: libvirt.DomainMetadataType.description, uri: null, flags }
  const metadata = { ...description, metadata: 'Grüße <&>', key: null }
  await call(libvirt.domainSetMetadata, metadata)
  assert.equal((await call(libvirt.domainGetMetadata, description)).metadata, metadata.metadata)
  await call(libvirt.domainCreateWithFlags, { dom, flags })
  assert.equal(await state(), running)
  const xmlDesc = '<domainsnapshot><name>first</name></domainsnapshot>'
  const { snap } = await call(libvirt.domainSnapshotCreateXml, { dom, xmlDesc, flags })
  assert.equal(snap.name, 'first')
  await call(libvirt.domainManagedSave, { dom, flags })
  assert.equal(await state(), shutoff)
  assert.equal((await call(libvirt.domainHasManagedSaveImage, { dom, flags })).result, 1)
  await call(libvirt.domainRevertToSnapshot, { snap, flags })
  assert.equal(await state(), running)
  await call(libvirt.domainSnapshotDelete, { snap, flags })
  const list = { dom, needResults: 1, flags }
  assert.deepEqual((await call(libvirt.domainListAllSnapshots, list)).snapshots, [])
  const { params } = await call(libvirt.domainGetCpuStats, {
    dom,
    nparams: 3,
    startCpu: -1,
    ncpus: 1,
    flags,
  })
  assert.equal(typeof libvirt.readCount(params, libvirt.DomainCpuStat.cputime), 'bigint')
})
