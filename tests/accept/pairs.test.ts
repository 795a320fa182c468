// Goal: each of the 24 pairs of power state and command, through HTTP on a real libvirtd and a real guest. Method: the contract's
// table, cell by cell. libvirt alone brings the VM to its state, so that the way there is not under test; after the response
// libvirt is asked for the VM's state, and whether it is still the same QEMU.
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

import { reasonToSkip, until, type LabHost } from '@skerry/lab'

import { assertSaid, curlOn, refused, type Answer } from './curl.ts'
import { startVmdPlace, type VmdPlace } from './vmd-place.ts'

const skip = reasonToSkip('host', 'small') ?? false
const BOOT_MS = 120_000
const ID = 'pairs'

const commands = ['on', 'off', 'shutdown', 'suspend', 'pause', 'unpause'] as const
type Command = (typeof commands)[number]
type State = 'powered off' | 'powered on' | 'paused' | 'suspended'
/** The resulting state, that it is already reached, or a rejection. */
type Cell = State | 200 | 409

/** One cell for each of the commands, in order. */
const table: Readonly<Record<State, readonly [Cell, Cell, Cell, Cell, Cell, Cell]>> = {
  'powered off': ['powered on', 200, 200, 409, 409, 409],
  'powered on': [200, 'powered off', 'powered off', 'suspended', 'paused', 200],
  paused: [409, 'powered off', 409, 'suspended', 200, 'powered on'],
  suspended: ['powered on', 409, 409, 200, 409, 409],
}
const pairs = Object.entries(table).flatMap(([from, cells]) =>
  commands.map((command, at) => ({ from: from as State, command, cell: cells[at] as Cell })),
)
/** Commands that do not change the state come first, so that it need not be restored. */
const inOrder = pairs.toSorted(
  (a, b) =>
    Object.keys(table).indexOf(a.from) - Object.keys(table).indexOf(b.from) ||
    Number(typeof a.cell === 'string') - Number(typeof b.cell === 'string'),
)

let place: VmdPlace | undefined
let host: LabHost
const { get, post, patch, remove } = curlOn(() => host)

const command = (word: Command) => patch(`/api/vms/power/${ID}`, word)

async function virsh(...words: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await host.run(['virsh', '-q', ...words, `local-${ID}`])
  assert.equal(code, 0, stderr)
  return stdout.trim()
}

interface Seen {
  readonly state: State
  /** The pid of its QEMU; 0 if there is none. */
  readonly qemu: number
}

/** The state in libvirt, without vmd. */
async function seen(): Promise<Seen> {
  const state = await virsh('domstate')
  const saved = /Managed save:\s+yes/.test(await virsh('dominfo'))
  const { stdout } = await host.run(['cat', `/run/libvirt/qemu/local-${ID}.pid`])
  const words: Readonly<Record<string, State>> = {
    running: 'powered on',
    paused: 'paused',
    'shut off': saved ? 'suspended' : 'powered off',
  }
  assert.ok(words[state], `libvirt says ${state}`)
  assert.ok(!saved || state === 'shut off', 'a running VM has no saved memory')
  return { state: words[state], qemu: Number(stdout) }
}

/** By libvirt alone, from any state. */
async function bring(to: State): Promise<Seen> {
  const now = await seen()
  if (now.state === to) return now
  if (now.qemu !== 0) await virsh('destroy')
  if (now.state === 'suspended') await virsh('managedsave-remove')
  if (to !== 'powered off') await virsh('start')
  if (to === 'paused') await virsh('suspend')
  if (to === 'suspended') await virsh('managedsave')
  const there = await seen()
  assert.equal(there.state, to)
  return there
}

/** Polling a hundred times a second would leave no CPU time for the guest on two cores. */
const untilUp = () =>
  until(
    'the guest is up',
    async () => {
      const ping = '{"execute":"guest-ping"}'
      const { code } = await host.run(['virsh', '-q', 'qemu-agent-command', `local-${ID}`, ping])
      if (code !== 0) await sleep(300)
      return code === 0
    },
    BOOT_MS,
  )

function assertRefused(answer: Answer, { state }: Seen, message: RegExp, hint?: RegExp): void {
  refused(answer, 409, message)
  const body = answer.body as { readonly state: string; readonly hint?: string }
  assert.equal(body.state, state)
  const keys = ['code', 'message', ...(body.hint === undefined ? [] : ['hint']), 'state']
  assert.deepEqual(Object.keys(body), keys)
  if (hint) assert.match(body.hint ?? '', hint)
}

suite('every pair of power state and command', { skip }, () => {
  before(async () => {
    place = await startVmdPlace()
    host = place.host
    assert.equal((await post('/api/vms', { id: ID, memoryMiB: 128 })).status, 201)
  })
  after(() => place?.[Symbol.asyncDispose]())

  test('there are 24 of them', () => {
    assert.equal(pairs.length, 24)
  })

  for (const { from, command: word, cell } of inOrder) {
    const becomes = typeof cell === 'string' ? `leads to ${cell}` : `is ${cell} and changes nothing`
    test(`${word} while ${from} ${becomes}`, async () => {
      const was = await bring(from)
      // A booting guest reacts to neither its agent nor the button.
      if (from === 'powered on' && word === 'shutdown') await untilUp()
      const answer = await command(word)
      if (cell === 409) {
        const hint =
          from === 'suspended' && word === 'off' ? /turn VM pairs on, or delete/ : undefined
        assertRefused(answer, was, new RegExp(`^VM ${ID} is \\w+; '${word}' requires `), hint)
      } else assertSaid(answer, 200, cell === 200 ? from : cell)
      const is = await seen()
      assert.equal(is.state, typeof cell === 'string' ? cell : from)
      if (typeof cell !== 'string') assert.equal(is.qemu, was.qemu, 'it is the same QEMU')
      const [runs, ran] = [is.qemu !== 0, was.qemu !== 0]
      if (runs && ran)
        assert.equal(is.qemu, was.qemu, 'a guest that keeps running was not restarted')
      assert.equal(runs, is.state === 'powered on' || is.state === 'paused')
      assertSaid(await get(`/api/vms/power/${ID}`), 200, is.state)
    })
  }

  test('suspend while paused is 409 with a share plugged, and works once it is unpaused', async () => {
    const { qemu } = await bring('powered on')
    await untilUp()
    assertSaid(await patch(`/api/vms/${ID}/folders`, 'true'), 200, 'shared folders enabled')
    assertSaid(await command('pause'), 200, 'paused')
    const was = await seen()
    const message = /is paused and has shared folders plugged in/
    assertRefused(await command('suspend'), was, message, /unpause VM pairs first/)
    assert.deepEqual(await seen(), { state: 'paused', qemu })
    assertSaid(await command('unpause'), 200, 'powered on')
    assertSaid(await command('suspend'), 200, 'suspended')
    assert.equal((await seen()).state, 'suspended')
  })

  test('an unknown VM is 404 for every command', async () => {
    for (const word of commands) {
      refused(await patch('/api/vms/power/nobody', word), 404, /there is no VM nobody/)
    }
    assert.equal((await remove(`/api/vms/${ID}`)).status, 204)
  })
})
