// Guests that only run, clients that are never idle, and somebody who kills what they stand on.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { guestImage, startHost, until, type LabHost } from '@skerry/lab'

import { startEngine, type RemoteEngine } from '../guest/engine.ts'
import { chance, type Chance } from './chance.ts'
import { assertWentOn, bootGuests, readLife } from './guests.ts'
import { newTally, type Engines, type Tally } from './insist.ts'
import { runLane } from './lane.ts'
import { leftovers } from './leftovers.ts'

const IN_ORDER_TIMEOUT_MS = 60_000

export interface StormOptions {
  readonly seed: number
  readonly kills: number
  /** Guests that run through all of it. */
  readonly guests: number
  /** How many of them are worked on at once; 2 unless told. */
  readonly lanes?: number
  /** Kills something, and lets it come back. */
  readonly kill: (scene: Scene, chance: Chance) => Promise<void>
  readonly say?: (line: string) => void
}

export interface Scene {
  readonly host: LabHost
  /** The engine there is; a test that kills it puts the next one here. */
  engine: Promise<RemoteEngine>
}

export interface StormFigures {
  readonly seed: number
  readonly kills: number
  readonly guests: number
  readonly errands: number
  readonly faults: Readonly<Record<string, number>>
  readonly seconds: number
}

/** Runs it all; throws on anything that a user would call broken. */
export async function runStorm(options: StormOptions): Promise<StormFigures> {
  const began = performance.now()
  const dir = await mkdtemp(join(tmpdir(), 'storm-'))
  const folder = await mkdtemp(join(tmpdir(), 'storm-folder-'))
  try {
    await using host = await startHost({ dir })
    const scene: Scene = { host, engine: startEngine(host) }
    const tally = newTally()
    try {
      await rage(scene, options, folder, tally)
    } catch (error) {
      const engine = await scene.engine.catch(() => undefined)
      throw new Error(`seed ${options.seed}; the engine's log: ${engine?.log().slice(-6000)}`, {
        cause: error,
      })
    }
    await (await scene.engine)[Symbol.asyncDispose]()
    return {
      ...{ seed: options.seed, kills: options.kills, guests: options.guests },
      errands: tally.done,
      faults: Object.fromEntries(tally.faults),
      seconds: Math.round((performance.now() - began) / 1000),
    }
  } finally {
    for (const each of [dir, folder]) await rm(each, { recursive: true, force: true })
  }
}

async function rage(
  scene: Scene,
  { seed, kills, guests, lanes = 2, kill, say = () => undefined }: StormOptions,
  folder: string,
  tally: Tally,
): Promise<void> {
  let broken: Error | undefined
  const engines: Engines = () => (broken ? Promise.reject(broken) : scene.engine)
  const engine = await scene.engine
  await engine.importTemplate('default', await guestImage('small'))
  const ids = Array.from({ length: guests }, (_, number) => `guest-${number}`)
  await bootGuests(engine, ids)
  const before = await Promise.all(ids.map((id) => readLife(engines, id)))
  say(`${guests} guests run`)

  const draw = chance(seed)
  const storm = { isOver: false }
  const work = Array.from({ length: lanes }, async (_, lane) => {
    const own = ids.filter((_, number) => number % lanes === lane)
    const random = draw.branch()
    // From guest to guest, a few rounds each.
    for (let turn = 0; !storm.isOver; turn++) {
      const guest = own[turn % own.length] as string
      const rounds = turn === 0 && own.length === 1 ? Number.POSITIVE_INFINITY : 3
      let done = 0
      await runLane({
        ...{ engines, guest, folder, chance: random, tally },
        name: `${guest}-${turn}`,
        isOver: () => storm.isOver || done++ >= rounds,
      })
    }
  })
  const killer = async () => {
    const random = draw.branch()
    for (let number = 0; number < kills; number++) {
      await sleep(random.between(300, 3000))
      await kill(scene, random)
      say(`kill ${number + 1} of ${kills}, ${tally.done} errands done`)
    }
  }
  try {
    await Promise.race([killer(), Promise.all(work)])
  } catch (error) {
    broken = error as Error
    await Promise.allSettled(work)
    throw error
  } finally {
    storm.isOver = true
  }
  await Promise.all(work)
  await assertInOrder(scene.host, ids)
  for (const [number, id] of ids.entries()) {
    const seen = before[number]
    if (seen) assertWentOn(id, seen, await readLife(engines, id))
  }
}

/** The host is put in order when libvirt comes back, while errands already go on. */
export async function assertInOrder(host: LabHost, ids: readonly string[]): Promise<void> {
  let left: string[] = []
  const isInOrder = async () => (left = await leftovers(host, ids)).length === 0
  await until('nothing should be left over', isInOrder, IN_ORDER_TIMEOUT_MS).catch(
    (cause: unknown) => {
      throw new Error(`left over:\n  ${left.join('\n  ')}`, { cause })
    },
  )
}
