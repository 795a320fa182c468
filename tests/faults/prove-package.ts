// The Debian package on a Debian with systemd: installed, upgraded and removed under running guests, with a libvirtd that is
// restarted and one that hangs, and a power cycle of the machine in between.
// Usage: node tests/faults/prove-package.ts
// Prints one line of JSON; fails if a guest stopped that should not have, or something is left over.
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'

import { guestImage } from '../../tools/lab/src/host/guest-image.ts'
import { requirePrograms } from '../../tools/lab/src/system/packages.ts'
import { run } from '../../tools/lab/src/system/run.ts'
import { until } from '../../tools/lab/src/system/wait.ts'
import { buildDeb } from '../../tools/package/build-deb.ts'
import { DebianMachine } from './debian-machine.ts'

const GUESTS = ['one', 'two'] as const
const URL = 'http://127.0.0.1:8080'
const GUEST_TIMEOUT_MS = 180_000
const VMD_TIMEOUT_MS = 60_000
const LOCAL = 'etc/apparmor.d/local/abstractions/libvirt-qemu'

requirePrograms('host', 'small', 'debian', 'package')
const began = performance.now()
const say = (line: string) =>
  void process.stderr.write(`${Math.round((performance.now() - began) / 1000)} s: ${line}\n`)

const work = await mkdtemp(join(tmpdir(), 'prove-package-'))
await using _ = { [Symbol.asyncDispose]: () => rm(work, { recursive: true, force: true }) }
const older = await buildDeb({ out: work, version: '0.0.1', quick: true })
const newer = await buildDeb({ out: work, version: '0.0.2', quick: true })
const depends = await run(['dpkg-deb', '-f', older, 'Depends'])
const needed = depends.split(',').map((each) => each.trim().replace(/ .*/s, ''))
say(`built; creating a machine from ${needed.join(', ')}`)
await using machine = await DebianMachine.make(needed)
const inMachine = (path: string) => join(machine.root, path)
for (const file of [older, newer]) await copyFile(file, inMachine(`root/${basename(file)}`))
await copyFile(await guestImage('small'), inMachine('root/small.qcow2'))
await machine.boot()

const skerry = (...words: string[]) => machine.run(['skerry', ...words])
const install = (file: string) =>
  machine.run(['apt-get', 'install', '-y', `/root/${basename(file)}`])
const answers = async () => (await machine.curl('-f', `${URL}/api/vms`)).code === 0
const untilAnswers = () => until('vmd should answer', answers, VMD_TIMEOUT_MS)
const property = async (unit: string, name: string) =>
  (await machine.run(['systemctl', 'show', '-P', name, unit])).trim()
const inGuest = async (id: string, script: string) =>
  (await skerry('exec', id, '--', '/bin/sh', '-c', script)).trim()

interface Event {
  readonly id: number
  readonly type: string
  readonly vm?: string
  readonly power?: string
  readonly vms?: readonly string[]
}
/** vmd's journal, read from its disk. */
const events = (): Event[] =>
  globSync(inMachine('var/lib/skerry/journal/*.jsonl'))
    .sort()
    .flatMap((file) => readFileSync(file, 'utf8').trim().split('\n').slice(1))
    .map((line) => JSON.parse(line) as Event)

/** Values that must stay the same as long as no guest stops: processes, and values reported by the guests. */
async function guests(): Promise<object> {
  const pid = async (id: string) =>
    (await machine.run(['cat', `/run/libvirt/qemu/local-${id}.pid`])).trim()
  return {
    processes: await Promise.all(GUESTS.map(pid)),
    virtiofsd: await machine.run(['sh', '-c', 'cat /run/skerry/sockets/*.pid']),
    memory: await memory(),
  }
}
const memory = () =>
  Promise.all(GUESTS.map((id) => inGuest(id, 'cat /tmp/mark /proc/sys/kernel/random/boot_id')))

/** Does something meanwhile and returns the longest time for which vmd did not answer. */
async function silence(work: () => Promise<unknown>): Promise<number> {
  let isDone = false
  const watching = (async () => {
    let longest = 0
    for (let last = performance.now(); ; last = performance.now()) {
      await untilAnswers()
      longest = Math.max(longest, performance.now() - last)
      if (isDone) return longest
    }
  })()
  await work()
  isDone = true
  return watching
}
const seconds = (ms: number) => Number((ms / 1000).toFixed(1))

say('installing')
await install(older)
await untilAnswers()
assert.match(await machine.run(['getent', 'group', 'skerry']), /^skerry:/)
for (const unit of ['skerry-vmd', 'skerry-guests']) {
  assert.equal((await machine.run(['systemctl', 'is-enabled', unit])).trim(), 'enabled')
  assert.equal(await property(unit, 'ActiveState'), 'active')
}

say('starting guests')
await skerry('template', 'import', '/root/small.qcow2', '--default')
await mkdir(inMachine('srv/docs'))
await writeFile(inMachine('srv/docs/word'), 'shared')
for (const id of GUESTS) await skerry('create', id, '--start')
for (const id of GUESTS) {
  const there = ['skerry', 'exec', id, '--', '/bin/sh', '-c', `echo ${id} >/tmp/mark`]
  const isUp = async () => (await machine.attempt(there)).code === 0
  await until(`guest ${id} should answer`, isUp, GUEST_TIMEOUT_MS)
}
await skerry('share', 'add', 'one', 'docs', '/srv/docs')
const first = await guests()
const readShare = () => inGuest('one', 'cat /mnt/shares/docs/word')
assert.equal(await readShare(), 'shared')

say('upgrading')
const vmd = await property('skerry-vmd', 'MainPID')
const reported = events().length
const upgradeSilence = await silence(() => install(newer))
assert.equal(await skerry('version'), 'skerry 0.0.2\n')
const upgraded = await property('skerry-vmd', 'MainPID')
assert.notEqual(upgraded, vmd)
assert.deepEqual(await guests(), first)
assert.equal(await readShare(), 'shared')
assert.deepEqual(events().slice(reported), [], 'nothing happened to a guest')

say('restarting libvirtd')
await machine.run(['systemctl', 'restart', 'libvirtd'])
await untilAnswers()
assert.equal(await property('skerry-vmd', 'MainPID'), upgraded, 'vmd waits for it')
assert.deepEqual(await guests(), first)

say('hanging libvirtd')
await machine.run(['systemctl', 'kill', '--kill-whom=main', '-s', 'STOP', 'libvirtd'])
await machine.run(['systemctl', 'restart', 'skerry-vmd'])
const logged = () => machine.run(['journalctl', '-b', '-u', 'skerry-vmd', '--no-pager'])
const complaint = /vmd: libvirt does not answer at .*\n.*start libvirtd, then retry/
await until(
  'vmd should report what is missing',
  async () => complaint.test(await logged()),
  VMD_TIMEOUT_MS,
)
await machine.run(['systemctl', 'kill', '--kill-whom=main', '-s', 'CONT', 'libvirtd'])
await untilAnswers()
assert.deepEqual(await guests(), first)
assert.deepEqual(events().slice(reported), [], 'nothing happened to a guest')

say('stopping the unit of the guests while the machine stays up')
await machine.run(['systemctl', 'stop', 'skerry-guests'])
await machine.run(['systemctl', 'start', 'skerry-guests'])
assert.deepEqual(await guests(), first)

say('switching the machine off and on')
const remembered = await memory()
const offBegan = performance.now()
await machine.powerOff()
const offSeconds = seconds(performance.now() - offBegan)
const stopped = events().slice(reported)
assert.deepEqual(stopped[0]?.vms, GUESTS)
const suspended = stopped.filter(({ power }) => power === 'suspended').map(({ vm = '' }) => vm)
assert.deepEqual(suspended.sort(), [...GUESTS])
const onBegan = performance.now()
await machine.boot()
const allOn = async () => {
  const { stdout } = await machine.curl(`${URL}/api/vms?view=full`)
  return stdout.split('"powered on"').length - 1 === GUESTS.length
}
await until('guests should be on again', allOn, GUEST_TIMEOUT_MS)
const onSeconds = seconds(performance.now() - onBegan)
assert.deepEqual(await memory(), remembered, 'the memory of before')
await until(
  'the folder should be there',
  async () => (await readShare()) === 'shared',
  VMD_TIMEOUT_MS,
)
const before = await machine.run(['journalctl', '-b', '-1', '--no-pager', '-o', 'cat', '_PID=1'])
const order = [
  'Stopped skerry-guests',
  'Stopping libvirt-guests',
  'Stopping skerry-vmd',
  'Stopping libvirtd',
]
const places = order.map((each) => before.lastIndexOf(`${each}.service`))
assert.ok(
  places.every((place) => place > (places[0] ?? 0) || place === places[0]),
  before,
)
assert.ok(!places.includes(-1), before)

say('removing and installing again')
const again = await guests()
await machine.run(['apt-get', 'remove', '-y', 'skerry'])
assert.ok(!existsSync(inMachine('usr/lib/skerry')))
assert.doesNotMatch(readFileSync(inMachine(LOCAL), 'utf8'), /skerry/)
await install(newer)
await untilAnswers()
assert.deepEqual(await guests(), again)
assert.equal(readFileSync(inMachine(LOCAL), 'utf8').match(/skerry-qemu/g)?.length, 1)

say('purging')
const purge = ['apt-get', 'purge', '-y', 'skerry']
assert.match(await machine.run(purge), /the VMs stay in \/var\/lib\/skerry/)
for (const id of GUESTS) assert.ok(existsSync(inMachine(`var/lib/skerry/vms/${id}.json`)))
await install(newer)
await untilAnswers()
assert.deepEqual(await guests(), again)
await machine.run(['env', 'SKERRY_PURGE=vms', ...purge])
assert.ok(!existsSync(inMachine('var/lib/skerry')))
assert.equal((await machine.run(['virsh', 'list', '--all', '--name'])).trim(), '')
const leftovers = await machine.run(['find', '/etc', '/usr', '/lib', '-iname', '*skerry*'])
assert.equal(leftovers, '', 'all but what is in memory until the next start')

console.log(
  JSON.stringify({
    proof: 'package',
    guests: GUESTS.length,
    upgradeSilenceSeconds: seconds(upgradeSilence),
    offSeconds,
    onSeconds,
    seconds: Math.round((performance.now() - began) / 1000),
  }),
)
