// Goal: a full disk breaks nothing. Method: a host whose /var/lib/skerry is small, filled with a file that belongs to no VM, or
// by a tenant who saves the memory of several guests at once.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'

import { Fault } from '@skerry/fault'
import { guestImage, reasonToSkip, startHost, until, type LabHost } from '@skerry/lab'

import { startEngine } from '../guest/engine.ts'
import { bootGuests, runInGuest } from './guests.ts'
import { leftovers } from './leftovers.ts'

const DISK_MIB = 600
const DATA = '/var/lib/skerry'

test('a full disk rejects new work first, pauses a guest that writes, and lets it continue', async (t) => {
  const reason = reasonToSkip('host', 'small')
  if (reason !== undefined) return t.skip(reason)
  await using host = await startSmallHost(t)
  await using engine = await startEngine(host)
  await engine.importTemplate('default', await guestImage('small'))
  await bootGuests(engine, ['guest'])

  // Less than the reserve, though more than any of this takes.
  await leaveFree(host, 200)
  const requested = {
    create: () => engine.createVm({ id: 'new' }),
    clone: () => engine.cloneVm({ id: 'new', parent: 'guest' }),
    suspend: () => engine.changePower('guest', 'suspend'),
    memory: () => engine.createSnapshot('guest', { name: 'kept', memory: true }),
    disk: () => engine.createSnapshot('guest', { name: 'kept', memory: false }),
  }
  for (const [what, ask] of Object.entries(requested)) {
    await assert.rejects(
      ask(),
      (error) => error instanceof Fault && error.kind === 'no-room',
      `${what} was not refused`,
    )
  }
  assert.equal(await engine.readPower('guest'), 'on')
  assert.deepEqual(await leftovers(host, ['guest']), [])

  await leaveFree(host, 8)
  // 14 MiB after the template's data on its disk, twice the free space.
  await runInGuest(
    engine,
    'guest',
    '(dd if=/dev/urandom of=/dev/vda bs=1M count=14 seek=49 conv=fsync,notrunc; echo $? >/tmp/ended) >/dev/null 2>&1 &',
  )
  const isStopped = async () => (await engine.readVm('guest')).pausedBy === 'full disk'
  await until('the guest should be paused by the full disk', isStopped, 60_000)
  assert.equal(await engine.readPower('guest'), 'paused')

  await host.run(['rm', `${DATA}/filling`])
  const isOn = async () => (await engine.readPower('guest')) === 'on'
  await until('the guest should resume by itself', isOn, 30_000)
  const ended = async () =>
    (await runInGuest(engine, 'guest', 'cat /tmp/ended 2>/dev/null || true')).trim() || undefined
  assert.equal(await until('its write should end', ended, 60_000), '0')
  assert.equal((await engine.readVm('guest')).pausedBy, undefined)
})

test('one tenant saves memory as often as possible, and the guest of another continues', async (t) => {
  const reason = reasonToSkip('host', 'small')
  if (reason !== undefined) return t.skip(reason)
  await using host = await startSmallHost(t)
  await using engine = await startEngine(host)
  await engine.importTemplate('default', await guestImage('small'))
  const greedy = ['greedy-1', 'greedy-2', 'greedy-3', 'greedy-4']
  await bootGuests(engine, [...greedy, 'other'])
  // The first of them would fit alone, all of them would fill the disk.
  await leaveFree(host, 256 + 140)

  const requested = await Promise.allSettled(
    greedy.map((id, at) =>
      at % 2 === 0
        ? engine.createSnapshot(id, { name: 'kept', memory: true })
        : engine.changePower(id, 'suspend'),
    ),
  )
  const refused = requested.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []))
  const isNoRoom = (error: unknown) => error instanceof Fault && error.kind === 'no-room'
  assert.ok(refused.length > 0 && refused.every(isNoRoom), String(refused))
  assert.ok(refused.length < requested.length, 'operations that fit are executed')
  const left = await freeMebibytes(host)
  assert.ok(left >= 200, `${left} MiB are left`)

  const script =
    'dd if=/dev/urandom of=/dev/vda bs=1M count=14 seek=49 conv=fsync,notrunc 2>/dev/null; echo $?'
  assert.equal((await runInGuest(engine, 'other', script)).trim(), '0')
  const { power, pausedBy } = await engine.readVm('other')
  assert.deepEqual([power, pausedBy], ['on', undefined])
  assert.deepEqual(await leftovers(host, [...greedy, 'other']), [])
})

/** A host with a small separate file system for disks and saved memory. */
async function startSmallHost(t: TestContext): Promise<LabHost> {
  const dir = await mkdtemp(join(tmpdir(), 'full-'))
  t.after(() => rm(dir, { recursive: true, force: true }))
  const host = await startHost({ dir })
  const saves = '/var/lib/libvirt/qemu/save'
  for (const command of [
    ['mount', '-t', 'tmpfs', '-o', `size=${DISK_MIB}m`, 'small', DATA],
    ['mkdir', '-p', `${DATA}/saves`, saves],
    ['mount', '--bind', `${DATA}/saves`, saves],
  ]) {
    const { code, stderr } = await host.run(command)
    assert.equal(code, 0, stderr)
  }
  return host
}

async function freeMebibytes(host: LabHost): Promise<number> {
  const script = `echo $(($(stat -f -c '%a * %S' ${DATA}) / 1048576))`
  const { code, stdout, stderr } = await host.run(['sh', '-c', script])
  assert.equal(code, 0, stderr)
  return Number(stdout)
}

async function leaveFree(host: LabHost, mebibytes: number): Promise<void> {
  const file = `${DATA}/filling`
  const script = `rm -f ${file}
    free=$(($(stat -f -c '%a * %S' ${DATA}) / 1048576))
    fallocate -l $((free - ${mebibytes}))M ${file}`
  const { code, stderr } = await host.run(['sh', '-c', script])
  assert.equal(code, 0, stderr)
}
