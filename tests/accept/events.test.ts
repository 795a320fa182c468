// Goal: a client that follows vmd by its events and operations misses nothing through any crash; guests are started with the
// machine. Method: vmd on a host with real guests; a reader that resumes by Last-Event-ID; kill -9 and power cuts in the middle.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'

import { guestImage, reasonToSkip, until, type LabHost } from '@skerry/lab'

import { BASE, curlOn, refused } from './curl.ts'
import { EventReader, type Seen } from './event-reader.ts'
import { startVmdPlace, type VmdPlace } from './vmd-place.ts'

const skip = reasonToSkip('host', 'small') ?? false
const BOOT_MS = 120_000
const PROGRAM = join(import.meta.dirname, '../../apps/vmd/src/main.ts')

let place: VmdPlace | undefined
let host: LabHost
const { curl, get, post, patch, remove } = curlOn(() => host)

interface Operation {
  readonly id: string
  readonly state: 'running' | 'succeeded' | 'failed'
  readonly progress: number
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string; readonly hint?: string }
}

const stateOf = async (id: string): Promise<string> =>
  ((await get(`/api/vms/power/${id}`)).body as { message: string }).message

/** All retained events, up to the one that is the newest now. The stream itself has no end. */
async function replay(): Promise<Seen[]> {
  const { text } = await get('/api/events?since=999999999')
  const newest = Number(/the newest is (\d+)/.exec(text)?.[1])
  await using reader = new EventReader(host, 0)
  await reader.untilSeen(`event ${newest}`, ({ id }) => id === newest)
  return reader.seen.filter(({ id }) => id <= newest)
}

function followed(location: string): Promise<Operation> {
  return until(
    `${location} ends`,
    async () => {
      const operation = (await get(location)).body as Operation
      return operation.state !== 'running' && operation
    },
    BOOT_MS,
  )
}

async function ask(...words: readonly string[]): Promise<Operation & { location: string }> {
  const answer = await curl('-H', 'Prefer: respond-async', ...words)
  assert.equal(answer.status, 202, answer.text)
  const operation = answer.body as Operation
  return { ...operation, location: `/api/operations/${operation.id}` }
}

suite('events, operations and starts of the machine', { skip }, () => {
  before(async () => {
    place = await startVmdPlace()
    host = place.host
  })
  after(() => place?.[Symbol.asyncDispose]())

  test('the stream reports changes of a VM, made by vmd and by others', async () => {
    await using reader = new EventReader(host, 0)
    await post('/api/vms', { id: 'vm-1', name: 'first', tag: 'a' })
    await reader.untilSeen('of vm-1', ({ type, vm }) => type === 'vm.created' && vm === 'vm-1')
    const becomes = (state: string) =>
      reader.untilSeen(state, (event) => event.type === 'vm.power' && event.state === state)
    await patch('/api/vms/power/vm-1', 'on')
    await becomes('powered on')
    await patch('/api/vms/vm-1/folders', 'true')
    await reader.untilSeen('of folders', ({ type }) => type === 'vm.folders')
    await host.run(['virsh', '-q', 'suspend', 'local-vm-1'])
    await becomes('paused')
    await host.run(['virsh', '-q', 'destroy', 'local-vm-1'])
    await becomes('powered off')
    await remove('/api/vms/vm-1')
    await reader.untilSeen('that it is gone', ({ type }) => type === 'vm.deleted')
    const reported = reader.seen
      .filter(({ vm }) => vm === 'vm-1')
      .map(({ type, state }) => [type, state])
    assert.deepEqual(reported, [
      ['vm.created', 'powered off'],
      ['vm.power', 'powered on'],
      ['vm.folders', undefined],
      ['vm.power', 'paused'],
      ['vm.power', 'powered off'],
      ['vm.deleted', undefined],
    ])
  })

  test('after a kill of vmd the stream continues without gaps or duplicates, and includes changes made meanwhile', async () => {
    await using reader = new EventReader(host, 0)
    await post('/api/vms', { id: 'keeps' })
    for (let round = 0; round < 3; round++) {
      await patch('/api/vms/power/keeps', 'on')
      const busy = Promise.allSettled([
        post('/api/vms', { id: `busy-${round}` }),
        post('/api/vms', { id: `clone-${round}`, parentid: 'keeps' }),
      ])
      await host.killVmd()
      await busy
      // While no vmd watches.
      await host.run(['virsh', '-q', 'destroy', 'local-keeps'])
      await host.startVmd()
      await until(
        'the stream reports what happened meanwhile',
        () => {
          const powers = reader.seen.filter(({ vm, type }) => vm === 'keeps' && type === 'vm.power')
          return powers.length === 2 * (round + 1) && powers.at(-1)?.state === 'powered off'
        },
        30_000,
      )
    }
    await post('/api/vms', { id: 'the-end' })
    await reader.untilSeen('the end', ({ vm }) => vm === 'the-end')
    const kept = await replay()
    assert.deepEqual(reader.seen, kept)
    assert.deepEqual(
      kept.map(({ id }) => id),
      kept.map((_, at) => at + 1),
    )
    const there = new Set<string>()
    for (const { type, vm = '' } of kept) {
      if (type === 'vm.created') there.add(vm)
      if (type === 'vm.deleted') there.delete(vm)
    }
    assert.deepEqual([...there].sort(), (await get('/api/vms')).body)
  })

  test('an unavailable cursor is rejected with the oldest id', async () => {
    const future = await curl('-H', 'Last-Event-ID: 999999', `${BASE}/api/events`)
    refused(future, 409, /has not happened yet/)
    assert.match((future.body as { hint: string }).hint, /oldest id is 1$/)
    assert.equal((await host.run(['curl', '-sIf', '-m', '60', `${BASE}/api/events`])).code, 0)
    refused(await get('/api/events?since=yesterday'), 400, /whole number/)
  })

  test('Prefer: respond-async returns at once, and the operation is followed to its end', async () => {
    const made = await ask('-d', JSON.stringify({ id: 'slow' }), `${BASE}/api/vms`)
    assert.equal(made.state, 'running')
    const { state, progress, result } = await followed(made.location)
    assert.deepEqual(
      [state, progress, result],
      ['succeeded', 100, { id: 'slow', name: 'slow', tag: '' }],
    )
    const started = await ask('-X', 'PATCH', '-d', 'on', `${BASE}/api/vms/power/slow`)
    assert.equal((await followed(started.location)).state, 'succeeded')
    assert.equal(await stateOf('slow'), 'powered on')
    const wrong = await ask('-X', 'PATCH', '-d', 'on', `${BASE}/api/vms/power/nowhere`)
    const { error } = await followed(wrong.location)
    assert.deepEqual([error?.code, error?.message], [404, 'there is no VM nowhere'])
    const all = (await get('/api/operations')).body as Operation[]
    assert.deepEqual(
      all.slice(-3).map(({ id }) => id),
      [made.id, started.id, wrong.id],
    )
    const file = await guestImage('small')
    const body = JSON.stringify({ name: 'another', file })
    const imported = await followed((await ask('-d', body, `${BASE}/api/templates`)).location)
    assert.equal(imported.state, 'succeeded')
    const percents = (await replay()).flatMap(({ operation }) =>
      operation?.name === 'importTemplate' ? [operation.progress] : [],
    )
    assert.deepEqual([percents[0], percents.at(-1)], [0, 100])
    assert.ok(percents.includes(40) && percents.includes(80), String(percents))
    refused(await get('/api/operations/none'), 404, /operation none not found/)
  })

  test('an operation during which vmd was killed has ended, and asks for a retry if it was not done', async () => {
    const off = await ask('-X', 'PATCH', '-d', 'shutdown', `${BASE}/api/vms/power/slow`)
    await host.killVmd()
    const { stdout } = await host.run(['virsh', '-q', 'domstate', 'local-slow'])
    await host.startVmd()
    const { state, error } = (await get(off.location)).body as Operation
    // A guest that is shutting down may end before vmd looks, or between that and now.
    if (stdout.trim() === 'shut off' || state === 'succeeded') {
      assert.deepEqual([state, await stateOf('slow')], ['succeeded', 'powered off'])
    } else assert.match(`${state}: ${error?.hint}`, /^failed: retry/)
    await patch('/api/vms/power/slow', 'off')
  })

  test('metrics and health show the state of vmd', async () => {
    const { type, text } = await get('/metrics')
    assert.match(type, /^text\/plain; version=0\.0\.4/)
    assert.match(
      text,
      /^skerry_requests_total\{route="readOperation",method="GET",status="200"\} 1$/m,
    )
    assert.match(text, /^skerry_vms\{power="on"\} 0$/m)
    assert.match(text, /^skerry_libvirt_up 1$/m)
    await until('all streams are closed', async () =>
      /^skerry_event_streams 0$/m.test((await get('/metrics')).text),
    )
    const health = async () => (await get('/api/health')).body as { status: string }
    assert.deepEqual(await health(), { status: 'ok', libvirt: 'up', journal: 'up', reasons: [] })
    await host.killLibvirt()
    await until('the loss is detected', async () => (await health()).status === 'degraded', BOOT_MS)
    await host.startLibvirt()
    await until('it is healthy again', async () => (await health()).status === 'ok', BOOT_MS)
  })

  test('after a power cut a VM with autostart runs again, others do not', async () => {
    await post('/api/vms', { id: 'always', autostart: true })
    await patch('/api/vms/power/always', 'on')
    await patch('/api/vms/power/keeps', 'on')
    await host.powerCut()
    await host.powerOn()
    await until('it is on', async () => (await stateOf('always')) === 'powered on', BOOT_MS)
    const isReady = async () => (await replay()).at(-1)?.type === 'machine.ready'
    await until('all is started', isReady, BOOT_MS)
    assert.equal(await stateOf('keeps'), 'powered off')
    await patch('/api/vms/power/always', 'off')
    const { length } = await replay()
    await host.killVmd()
    await host.startVmd()
    const since = (await replay()).slice(length).map(({ type }) => type)
    assert.deepEqual(since, [], 'a start of vmd alone is not a start of the machine')
  })

  test('suspended guests resume with the machine, with a correct clock', async () => {
    await patch('/api/vms/power/keeps', 'on')
    await until('its agent answers', async () => (await clockOf('keeps')) !== undefined, BOOT_MS)
    const stopped = await host.run([process.execPath, PROGRAM, '--stop-guests', 'suspend'])
    assert.deepEqual([stopped.code, stopped.stdout], [0, '1 stopped, 0 left\n'], stopped.stderr)
    assert.equal(await stateOf('keeps'), 'suspended')
    const asleep = Date.now()
    await host.powerCut()
    // After a shorter suspension the clock could be right by chance.
    await until('it has slept', () => Date.now() - asleep > 6000)
    await host.powerOn()
    await until('it is on', async () => (await stateOf('keeps')) === 'powered on', BOOT_MS)
    await until(
      'its clock is right again',
      async () => {
        const seconds = await clockOf('keeps')
        return seconds !== undefined && Math.abs(seconds - Date.now() / 1000) < 2
      },
      30_000,
    )
  })

  test('stopping vmd ends its streams, and leaves its guests running', async () => {
    await using reader = new EventReader(host, 0)
    await reader.untilSeen('something', () => true)
    const second = await host.run([process.execPath, PROGRAM])
    assert.match(`${second.code} ${second.stderr}`, /^1 skerry vmd: vmd is already running/)
    const began = performance.now()
    await host.killVmd('SIGTERM')
    assert.ok(performance.now() - began < 5000)
    await host.startVmd()
    assert.equal(await stateOf('keeps'), 'powered on')
  })

  test('with --on-stop suspend, vmd suspends its guests when it is stopped, and resumes them when it starts', async () => {
    await host.killVmd('SIGTERM')
    const vmd = host.spawn([process.execPath, PROGRAM, '--on-stop', 'suspend'], { stdio: 'ignore' })
    const asks = ['curl', '-sf', `${BASE}/api/health`]
    await until('it answers', async () => (await host.run(asks)).code === 0, BOOT_MS)
    vmd.kill('SIGTERM')
    await once(vmd, 'exit')
    const { stdout } = await host.run(['virsh', '-q', 'list', '--all', '--with-managed-save'])
    assert.match(stdout, /local-keeps/)
    await host.startVmd()
    await until('it is on', async () => (await stateOf('keeps')) === 'powered on', BOOT_MS)
  })
})

/** The guest's clock in seconds; undefined while its agent does not answer. */
async function clockOf(id: string): Promise<number | undefined> {
  const { code, stdout } = await host.run(['virsh', '-q', 'domtime', `local-${id}`])
  return code === 0 ? Number(/\d+/.exec(stdout)?.[0]) : undefined
}
