// A host that loses power in the middle of something, again and again.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { guestImage, startHost, until, type LabHost } from '@skerry/lab'

import { startEngine, type RemoteEngine } from '../guest/engine.ts'
import { chance, type Chance } from './chance.ts'
import { bootGuests, runInGuest } from './guests.ts'
import { assertInOrder } from './storm.ts'

const PARENT = 'parent'
const CHILD = 'child'
const KEPT = 'kept'
const BOOT_MS = 180_000
/** Beyond the template's own 48 MiB, where the small guest keeps nothing. */
const MARK_AT_MIB = 60
const MARK = 'written before the power went'

/** Something that a power cut may cut in two. */
export interface Scene {
  readonly name: string
  /** Brings about what it begins from; not timed. */
  before(engine: RemoteEngine): Promise<unknown>
  act(engine: RemoteEngine): Promise<unknown>
}

const off = (engine: RemoteEngine) => engine.changePower(PARENT, 'off')
const on = (engine: RemoteEngine) => engine.changePower(PARENT, 'on')
const withChild = (power: 'on' | 'off') => async (engine: RemoteEngine) => {
  await off(engine)
  await engine.cloneVm({ id: CHILD, parent: PARENT })
  if (power === 'on') await engine.changePower(CHILD, 'on')
}
const cloneParent = (engine: RemoteEngine) => engine.cloneVm({ id: CHILD, parent: PARENT })
const keepParent = (memory: boolean) => (engine: RemoteEngine) =>
  engine.createSnapshot(PARENT, { name: KEPT, memory })

export const scenes = {
  clone: [
    { name: 'clone of a VM that is off', before: off, act: cloneParent },
    { name: 'clone of a VM that runs', before: on, act: cloneParent },
  ],
  snapshot: [
    { name: 'snapshot with memory', before: on, act: keepParent(true) },
    { name: 'snapshot of a running disk', before: on, act: keepParent(false) },
    { name: 'snapshot of a VM that is off', before: off, act: keepParent(false) },
  ],
  delete: [
    {
      name: 'delete of a VM that is off',
      before: withChild('off'),
      act: (engine) => engine.deleteVm(CHILD),
    },
    {
      name: 'delete of a VM that runs',
      before: withChild('on'),
      act: (engine) => engine.deleteVm(CHILD),
    },
  ],
} as const satisfies Record<string, readonly Scene[]>

export interface CutOptions {
  readonly seed: number
  readonly scenes: readonly Scene[]
  /** Of each scene. */
  readonly cuts: number
  readonly say?: (line: string) => void
}

export interface CutFigures {
  readonly seed: number
  readonly cuts: number
  /** How often the child or snapshot was there afterwards, whole, and how often not at all. */
  readonly there: number
  readonly gone: number
  readonly seconds: number
}

/** Cuts the power; throws on anything that a user would call broken. */
export async function runCuts({
  seed,
  scenes,
  cuts,
  say = () => undefined,
}: CutOptions): Promise<CutFigures> {
  const began = performance.now()
  const dir = await mkdtemp(join(tmpdir(), 'cut-'))
  const outcomes: boolean[] = []
  try {
    await using host = await startHost({ dir })
    {
      await using engine = await startEngine(host)
      await engine.importTemplate('default', await guestImage('small'))
      await bootGuests(engine, [PARENT])
      await runInGuest(
        engine,
        PARENT,
        `echo '${MARK}' | dd of=/dev/vda bs=1M seek=${MARK_AT_MIB} conv=fsync`,
      )
    }
    const draw = chance(seed)
    for (const scene of scenes) {
      const longest = await timeOf(host, scene)
      for (let cut = 0; cut < cuts; cut++) {
        outcomes.push(await cutDuring(host, scene, longest, draw))
        say(`${scene.name}, cut ${cut + 1} of ${cuts}: ${outcomes.at(-1) ? 'there' : 'gone'}`)
      }
    }
    await assertMarkIsThere(host)
    const there = outcomes.filter(Boolean).length
    const seconds = Math.round((performance.now() - began) / 1000)
    return { seed, cuts: outcomes.length, there, gone: outcomes.length - there, seconds }
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}

/** How long it takes when nothing happens, so that cuts fall everywhere in it. */
async function timeOf(host: LabHost, scene: Scene): Promise<number> {
  await using engine = await startEngine(host)
  await scene.before(engine)
  const began = performance.now()
  await scene.act(engine)
  const took = performance.now() - began
  await clear(engine)
  return took
}

async function cutDuring(
  host: LabHost,
  scene: Scene,
  longest: number,
  draw: Chance,
): Promise<boolean> {
  const dying = await startEngine(host)
  await scene.before(dying)
  const acting = scene.act(dying).catch(() => undefined)
  await sleep(draw.between(0, longest * 1.2))
  await host.powerCut()
  await acting
  await host.powerOn()

  await using engine = await startEngine(host)
  const there = (await engine.listVms()).map(({ id }) => id as string)
  try {
    await assertInOrder(host, there)
    assert.ok(there.includes(PARENT), 'the parent is gone')
    await assertStarts(engine, there)
  } catch (cause) {
    throw new Error(`after a cut during ${scene.name}; the log: ${engine.log().slice(-4000)}`, {
      cause,
    })
  }
  return await clear(engine)
}

/** Whatever is there can be turned on: its chain is whole. */
async function assertStarts(engine: RemoteEngine, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    assert.equal(await engine.changePower(id, 'on'), 'on')
    await engine.changePower(id, 'off')
  }
}

/** Takes away what was made, and says whether it was. */
async function clear(engine: RemoteEngine): Promise<boolean> {
  const children = (await engine.listVms()).filter(({ id }) => id !== PARENT)
  for (const { id } of children) await engine.deleteVm(id)
  const snapshots = await engine.listSnapshots(PARENT)
  for (const { name } of snapshots) await engine.removeSnapshot(PARENT, name)
  return children.length + snapshots.length > 0
}

/** What the guest was told is safe is safe, however often it was frozen, kept and cut off since. */
async function assertMarkIsThere(host: LabHost): Promise<void> {
  await using engine = await startEngine(host)
  await on(engine)
  await until('the parent should start', () => engine.pingGuest(PARENT), BOOT_MS)
  const read = `dd if=/dev/vda bs=1M skip=${MARK_AT_MIB} count=1 | head -n 1`
  assert.equal(await runInGuest(engine, PARENT, read), `${MARK}\n`)
}
