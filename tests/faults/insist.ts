import { setTimeout as sleep } from 'node:timers/promises'

import { Fault, retryableKinds, type FaultKind } from '@skerry/fault'

import { EngineGone } from '../guest/engine.ts'
import type { Driven } from './driven.ts'

/** The longest answer takes 60 s: a guest has that long to shut down. */
const HANGS_MS = 90_000
/** Without a kill in between. */
const GIVES_UP_MS = 120_000
/** The pause of a polite client. */
const ASK_AGAIN_MS = 100

/** Something to be done, and a check that it is. */
export interface Errand<E = Driven> {
  readonly what: string
  run(engine: E): Promise<unknown>
  isDone(engine: E): Promise<boolean>
}

/** The engine that runs now, or the next one: tests kill them. */
export type Engines<E = Driven> = () => Promise<E>

export interface Tally {
  done: number
  /** When something was killed last, as `performance.now()`. What it interrupted may take its whole time again. */
  killedAt: number
  /** The number of faults, by kind. */
  readonly faults: Map<FaultKind | 'engine gone', number>
}

export const newTally = (): Tally => ({ done: 0, killedAt: 0, faults: new Map() })

/**
 * Repeats until it is done, as a client would. Every response comes in time and is a result or a retryable fault, unless the
 * requested state was reached meanwhile.
 */
export async function insist<E>(
  engines: Engines<E>,
  errand: Errand<E>,
  tally: Tally,
): Promise<void> {
  const began = performance.now()
  const isLate = () => performance.now() > Math.max(began, tally.killedAt) + GIVES_UP_MS
  for (;;) {
    const fault = await attempt(engines, errand, tally)
    if (!fault) break
    if (await settledOtherwise(engines, errand, tally, isLate)) break
    if (fault instanceof Fault && !retryableKinds.has(fault.kind)) {
      throw new Error(`${errand.what} was refused for good: ${fault.kind}: ${fault.message}`)
    }
    if (isLate()) throw new Error(`${errand.what} never came about`)
    await sleep(ASK_AGAIN_MS)
  }
  tally.done++
}

async function attempt<E>(
  engines: Engines<E>,
  errand: Errand<E>,
  tally: Tally,
): Promise<Fault | EngineGone | undefined> {
  try {
    const engine = await engines()
    await inTime(errand.what, errand.run(engine))
    return undefined
  } catch (error) {
    return expected(error, tally)
  }
}

async function settledOtherwise<E>(
  engines: Engines<E>,
  errand: Errand<E>,
  tally: Tally,
  isLate: () => boolean,
): Promise<boolean> {
  while (!isLate()) {
    try {
      const engine = await engines()
      return await inTime(`looking whether ${errand.what}`, errand.isDone(engine))
    } catch (error) {
      expected(error, tally)
      await sleep(ASK_AGAIN_MS)
    }
  }
  return false
}

function expected(error: unknown, { faults }: Tally): Fault | EngineGone {
  const kind =
    error instanceof Fault ? error.kind : error instanceof EngineGone ? 'engine gone' : undefined
  if (kind === undefined) throw error
  faults.set(kind, (faults.get(kind) ?? 0) + 1)
  return error as Fault | EngineGone
}

/** A missing response is the one thing that no client can handle. */
export async function inTime<T>(what: string, work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => reject(new Error(`${what}: no answer within ${HANGS_MS / 1000} s`)),
    HANGS_MS,
  )
  try {
    return await Promise.race([work, promise])
  } finally {
    clearTimeout(timer)
  }
}
