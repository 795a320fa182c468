// Goal: whatever dies during a move, and whichever response is lost, one host has the guest. Method: two lab hosts with an engine
// on each; the test forwards their messages, so it knows at which of libvirt's five steps a move is, and there kills a process or
// cuts the connection. One guest goes back and forth through all of them. A watcher checks from outside that it never runs at
// both hosts; afterwards exactly one QEMU runs, and the guest's kernel is the one that was started first.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'

import { guestImage, reasonToSkip, startLab, until, type Lab } from '@skerry/lab'

import { BOOT_MS, kernelOf } from '../guest/guest.ts'
import { MovePlace, slowDown, watchBoth, writtenDown, type Victim } from './move-place.ts'

const VM = 'walker'

/** The point of the fault, in libvirt's terms, and the state of the move then. */
const steps = {
  /** libvirt of the source has begun; the target has not been asked to prepare. */
  begin: { call: 'prepareArrival', when: 'before' },
  /** The target's QEMU waits; its response is in transit. */
  prepare: { call: 'prepareArrival', when: 'after' },
  /** Memory and disk are being copied. */
  perform: { call: 'prepareArrival', when: 'copying' },
  /** The guest is handed over and paused; the target does not know yet. */
  performed: { call: 'finishArrival', when: 'before' },
  /** The target has recorded that it has the guest, and resumes it. */
  finishing: { call: 'finishArrival', when: 'landed' },
  /** The guest runs at the target; its response is in transit. */
  finish: { call: 'finishArrival', when: 'after' },
  /** The source has the response, and removes its copy. */
  confirm: { call: 'finishArrival', when: 'left' },
} as const
type Step = keyof typeof steps

/** Where the guest is afterwards. `by its answer`: at the source if libvirt of the target answered that it has no such guest. */
type End = 'source' | 'target' | 'by its answer'
const ends: Readonly<Record<Step, Partial<Readonly<Record<Victim, End>>>>> = {
  // A libvirtd that comes back before the copy begins does not affect the move.
  begin: { 'source engine': 'source', 'source libvirtd': 'target', connection: 'source' },
  prepare: {
    'source engine': 'source',
    'target engine': 'source',
    'target libvirtd': 'source',
    connection: 'source',
  },
  perform: {
    'source engine': 'source',
    'source libvirtd': 'source',
    'target engine': 'source',
    'target libvirtd': 'source',
  },
  performed: {
    'source engine': 'source',
    'source libvirtd': 'target',
    'target engine': 'source',
    'target libvirtd': 'source',
    connection: 'source',
  },
  // A libvirtd that is back before it is asked to resume the guest answers that it has none: then the guest has not run there.
  finishing: { 'target engine': 'target', 'target libvirtd': 'by its answer' },
  finish: {
    'source engine': 'target',
    'source libvirtd': 'target',
    'target engine': 'target',
    'target libvirtd': 'target',
    connection: 'target',
  },
  confirm: { 'source engine': 'target', 'source libvirtd': 'target' },
}

/** The answers of a libvirtd that was restarted: before or after it has removed what the move had begun. */
const REFUSED =
  /did not arrive and continues here: libvirt: .*(Domain not found|not processing incoming migration)/

describe('an interrupted move', { skip: reasonToSkip('host', 'small') ?? false }, () => {
  let dir = ''
  let lab: Lab
  let here: MovePlace
  let there: MovePlace
  let kernel = ''

  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'move-kills-'))
    lab = await startLab({ dir, hosts: 2 })
    const [first, second] = lab.hosts
    assert.ok(first && second)
    here = new MovePlace(first)
    there = new MovePlace(second)
    here.other = there
    there.other = here
    await Promise.all([here.start(), there.start()])
    await here.engine.importTemplate('default', await guestImage('small'))
    await here.engine.createVm({ id: VM, memoryMiB: 128, diskMiB: 64 })
    await here.engine.changePower(VM, 'on')
    await until(`the agent of ${VM} answers`, () => here.engine.pingGuest(VM), BOOT_MS)
    kernel = await kernelOf(here.engine, VM)
  })

  after(async () => {
    await Promise.all([here?.stop(), there?.stop()])
    await lab?.[Symbol.asyncDispose]()
    await rm(dir, { recursive: true, force: true })
  })

  for (const [step, victims] of Object.entries(ends) as [Step, (typeof ends)[Step]][]) {
    for (const [victim, end] of Object.entries(victims) as [Victim, End][]) {
      it(`the ${victim} is lost at ${step}: the guest is at the ${end}`, async (t) => {
        const [source, target] = (await here.has(VM)) ? [here, there] : [there, here]
        await using watched = watchBoth(source.host, target.host, VM)
        await slowDown(source.host, VM, steps[step].when === 'copying')
        const broken = source.breakAt({ ...steps[step], victim, vm: VM })
        const began = performance.now()
        const move = source.engine.migrateVm(VM, target.host.name).then(
          () => 'moved',
          (error: unknown) => String(error),
        )
        // A move waits for a target whose libvirtd does not come back.
        void move.then((how) => source.requireBroken(how))
        const [moved] = await Promise.all([move, broken])
        await source.fix()
        await target.fix()
        await until(
          'the move is settled',
          async () => (await writtenDown(source.host)) === 0,
          BOOT_MS,
        )
        await until(
          'one host runs the guest',
          async () => (await source.runs(VM)) !== (await target.runs(VM)),
          BOOT_MS,
        )
        const seconds = ((performance.now() - began) / 1000).toFixed(1)
        const at = (await target.has(VM)) ? target : source
        const other = at === target ? source : target
        t.diagnostic(`settled after ${seconds} s: ${moved.split('\n')[0]}`)
        assert.deepEqual(
          [await at.qemus(VM), await other.qemus(VM), await other.has(VM)],
          [1, 0, false],
        )
        assert.equal(await at.engine.readPower(VM), 'on')
        assert.deepEqual(await other.filesOf(VM), [])
        assert.equal(watched.both(), 0, 'the guest was seen running at both hosts')
        const isRefused = REFUSED.test(moved)
        const byAnswer = isRefused ? 'source' : 'target'
        assert.equal(at === target ? 'target' : 'source', end === 'by its answer' ? byAnswer : end)
        await until(`the agent of ${VM} answers`, () => at.engine.pingGuest(VM), BOOT_MS)
        const now = await kernelOf(at.engine, VM)
        // Only a target that dies while it resumes the guest may cost the guest its memory.
        if (step === 'finishing' && at === target) kernel = now
        assert.equal(now, kernel)
      })
    }
  }
})
