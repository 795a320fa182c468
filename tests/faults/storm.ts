// Guests that only run, clients that are never idle, and kills of the processes below them.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { guestImage, startHost, until, type LabHost } from '@skerry/lab'

import { seededRandom, type SeededRandom } from '../../tools/lab/src/system/seeded-random.ts'
import type { Driven } from './driven.ts'
import { assertWentOn, bootGuests, readLife } from './guests.ts'
import { newTally, type Engines, type Tally } from './insist.ts'
import { runLane, type Rounds } from './lane.ts'
import { leftovers } from './leftovers.ts'

const IN_ORDER_TIMEOUT_MS = 60_000
const ERRANDS_TIMEOUT_MS = 600_000

export interface StormOptions<E extends Driven> {
  readonly seed: number
  readonly kills: number
  /** Guests that run throughout. */
  readonly guests: number
  /** The number of concurrent lanes; default: 2. */
  readonly lanes?: number
  /** Continues until this many errands are done, with the kills spread over them; default: until the last kill. */
  readonly errands?: number
  /** Starts the target of errands. */
  readonly start: (host: LabHost) => Promise<E>
  /** Kills something, and lets it come back. */
  readonly kill: (scene: Scene<E>, chance: SeededRandom) => Promise<void>
  /** Creates the VMs that must survive everything; returns their ids. */
  readonly prepare?: (scene: Scene<E>, guests: readonly string[]) => Promise<readonly string[]>
  readonly more?: (guest: string, temporary: string) => Rounds<E>
  /** Called once all errands are done and the host was found in order. */
  readonly conclude?: (scene: Scene<E>) => Promise<void>
  readonly say?: (line: string) => void
}

export interface Scene<E extends Driven> {
  readonly host: LabHost
  readonly start: () => Promise<E>
  /** The current one; a test that kills it stores the next one here. */
  engine: Promise<E>
  /** Removed before the host is. */
  readonly stack: AsyncDisposableStack
}

export interface StormFigures {
  readonly seed: number
  readonly kills: number
  readonly guests: number
  readonly errands: number
  readonly faults: Readonly<Record<string, number>>
  readonly seconds: number
}

/** Runs it all; throws on any violated invariant. */
export async function runStorm<E extends Driven>(options: StormOptions<E>): Promise<StormFigures> {
  const began = performance.now()
  const dir = await mkdtemp(join(tmpdir(), 'storm-'))
  const folder = await mkdtemp(join(tmpdir(), 'storm-folder-'))
  try {
    await using host = await startHost({ dir })
    await using stack = new AsyncDisposableStack()
    const start = () => options.start(host)
    const scene: Scene<E> = { host, start, stack, engine: start() }
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
      seed: options.seed,
      kills: options.kills,
      guests: options.guests,
      errands: tally.done,
      faults: Object.fromEntries(tally.faults),
      seconds: Math.round((performance.now() - began) / 1000),
    }
  } finally {
    for (const each of [dir, folder]) await rm(each, { recursive: true, force: true })
  }
}

async function rage<E extends Driven>(
  scene: Scene<E>,
  options: StormOptions<E>,
  folder: string,
  tally: Tally,
): Promise<void> {
  const { seed, kills, guests, errands = 0, kill, say = () => undefined } = options
  let broken: Error | undefined
  const engines: Engines<E> = () => (broken ? Promise.reject(broken) : scene.engine)
  const engine = await scene.engine
  await engine.importTemplate('default', await guestImage('small'))
  const ids = Array.from({ length: guests }, (_, number) => `guest-${number}`)
  await bootGuests(engine, ids)
  const before = await Promise.all(ids.map((id) => readLife(engines, id)))
  const others = (await options.prepare?.(scene, ids)) ?? []
  say(`${guests} guests run`)

  const draw = seededRandom(seed)
  const storm = { isOver: false }
  const work = runLanes({ engines, ids, folder, tally, storm, draw }, options)
  const killer = async () => {
    const random = draw.branch()
    for (let number = 0; number < kills && !storm.isOver; number++) {
      await untilDone(tally, (errands * number) / kills, storm)
      await sleep(random.between(300, 3000))
      await kill(scene, random)
      tally.killedAt = performance.now()
      say(`kill ${number + 1} of ${kills}, ${tally.done} errands done`)
    }
    await untilDone(tally, errands, storm)
  }
  const killing = killer()
  try {
    await Promise.race([killing, Promise.all(work)])
  } catch (error) {
    broken = error as Error
    storm.isOver = true
    await Promise.allSettled([...work, killing])
    throw error
  } finally {
    storm.isOver = true
  }
  await Promise.all(work)
  await assertInOrder(scene.host, [...ids, ...others])
  for (const [number, id] of ids.entries()) {
    const seen = before[number]
    if (seen) assertWentOn(id, seen, await readLife(engines, id))
  }
  await options.conclude?.(scene)
}

interface Lanes<E extends Driven> {
  readonly engines: Engines<E>
  readonly ids: readonly string[]
  readonly folder: string
  readonly tally: Tally
  readonly storm: { readonly isOver: boolean }
  readonly draw: SeededRandom
}

function runLanes<E extends Driven>(
  { ids, storm, draw, ...rest }: Lanes<E>,
  { lanes = 2, errands, more }: StormOptions<E>,
): Promise<void>[] {
  // A fixed number of errands should include each kind.
  const deck = errands === undefined ? {} : { deck: [] }
  return Array.from({ length: lanes }, async (_, lane) => {
    const own = ids.filter((_, number) => number % lanes === lane)
    const random = draw.branch()
    // From guest to guest, a few rounds each.
    for (let turn = 0; !storm.isOver; turn++) {
      const guest = own[turn % own.length] as string
      const rounds = turn === 0 && own.length === 1 ? Number.POSITIVE_INFINITY : 3
      let done = 0
      await runLane({
        ...rest,
        guest,
        chance: random,
        ...deck,
        ...(more && { more }),
        name: `${guest}-${turn}`,
        isOver: () => storm.isOver || done++ >= rounds,
      })
    }
  })
}

async function untilDone(
  tally: Tally,
  errands: number,
  storm: { readonly isOver: boolean },
): Promise<void> {
  const isDone = () => storm.isOver || tally.done >= errands
  await until(`${errands} errands should be done`, isDone, ERRANDS_TIMEOUT_MS)
}

/** Ends the target of errands like a crash, and starts the next one at once or a little later. */
export async function killDriven<E extends Driven>(
  scene: Scene<E>,
  chance: SeededRandom,
): Promise<void> {
  const dying = await scene.engine
  const next = Promise.withResolvers<E>()
  scene.engine = next.promise
  await dying.kill()
  await sleep(chance.between(0, 300))
  next.resolve(scene.start())
  await next.promise
}

/** The host is repaired when libvirt comes back, while errands already continue. */
export async function assertInOrder(host: LabHost, ids: readonly string[]): Promise<void> {
  let left: string[] = []
  const isInOrder = async () => (left = await leftovers(host, ids)).length === 0
  await until('nothing should be left over', isInOrder, IN_ORDER_TIMEOUT_MS).catch(
    (cause: unknown) => {
      throw new Error(`left over:\n  ${left.join('\n  ')}`, { cause })
    },
  )
}
