import { Fault } from '@skerry/fault'
import { networkOf } from '@skerry/service'

/**
 * Limits for password checks. A check takes 64 MiB and a thread of Node.js's pool for a quarter of a second, so few run at once:
 * libuv has four threads, and files, DNS names and other requests need one. The limits are per cell.
 */
export const checkBounds = {
  /** Running at once. */
  running: 3,
  /** Of these, from networks without a recent login: one slot is always left for known networks. */
  runningUnknown: 2,
  /** Running at once from one network: if it is unknown, and if it had a recent login. */
  ofUnknown: 1,
  ofKnown: 2,
  /** Waiting: from one network, and from all unknown or all known ones. */
  waitingOfNetwork: 16,
  waiting: 64,
  /** Wrong passwords from one network, over all names: this many in a burst, then one every `failureMs`. */
  failures: 100,
  failureMs: 6000,
  /** From this many on, checks from that network are this far apart: two checks at once slow each other down. */
  freeFailures: 10,
  pauseMs: 2000,
  /** How long a successful login is remembered. */
  knownMs: 24 * 3_600_000,
  /** Networks that are remembered; the least recently used is dropped first. */
  networks: 10_000,
} as const

export type CheckBounds = Readonly<Record<keyof typeof checkBounds, number>>

/** Limits for checks at one identity server. They take no processor here, and more of them wait while it is slow. */
export const directoryBounds: CheckBounds = {
  ...checkBounds,
  running: 16,
  runningUnknown: 12,
  ofUnknown: 4,
  ofKnown: 8,
  waitingOfNetwork: 64,
  waiting: 256,
}

/** How long a rejected caller should wait before the next try. */
const RETRY_SECONDS = 5

interface Network {
  running: number
  readonly waiting: (() => void)[]
  knownUntil: number
  /** Wrong passwords counted against it, as of `countedAt`. */
  failures: number
  countedAt: number
  /** For a network with many failures: no check begins before this time. */
  nextAt: number
}

export interface CheckQueueOptions {
  /** Monotonic clock, in milliseconds. */
  readonly now: () => number
  /** Addresses that many clients share, such as a load balancer's: limits per network do not apply to them. */
  readonly sharedAddresses?: readonly string[] | undefined
  readonly bounds?: CheckBounds
}

/** Runs password checks in turn: networks with a recent login first, and round robin between networks. */
export class CheckQueue {
  readonly #options: CheckQueueOptions
  readonly #bounds: CheckBounds
  readonly #shared: ReadonlySet<string>
  readonly #networks = new Map<string, Network>()
  /** Networks with waiting checks, in the order of their turns. */
  readonly #turns = { known: new Set<Network>(), unknown: new Set<Network>() }
  readonly #running = { known: 0, unknown: 0 }
  readonly #waiting = { known: 0, unknown: 0 }

  constructor(options: CheckQueueOptions) {
    this.#options = options
    this.#bounds = options.bounds ?? checkBounds
    this.#shared = new Set((options.sharedAddresses ?? []).map(networkOf))
  }

  /** `check` returns undefined for a wrong password. Throws `too-many` if it is not run. */
  async take<T>(address: string, check: () => Promise<T | undefined>): Promise<T | undefined> {
    const name = networkOf(address)
    const isShared = this.#shared.has(name)
    const network = this.#find(name)
    const kind = isShared || network.knownUntil > this.#options.now() ? 'known' : 'unknown'
    if (!isShared) this.#requireBudget(network)
    const isFull =
      this.#waiting[kind] >= this.#bounds.waiting ||
      (!isShared && network.waiting.length >= this.#bounds.waitingOfNetwork)
    if (isFull) {
      throw new Fault('too-many', 'too many password checks are in progress', {
        hint: `retry in ${RETRY_SECONDS} s`,
        detail: String(RETRY_SECONDS),
      })
    }
    await this.#turn(network, kind)
    try {
      // Others in the same network may have failed while this check waited.
      if (!isShared) this.#requireBudget(network)
      const found = await check()
      if (found === undefined) this.#countFailure(network)
      else network.knownUntil = this.#options.now() + this.#bounds.knownMs
      return found
    } finally {
      network.running -= 1
      this.#running[kind] -= 1
      // Other waiting networks come before its next check.
      if (this.#turns[kind].delete(network)) this.#turns[kind].add(network)
      this.#next()
    }
  }

  #find(name: string): Network {
    const found = this.#networks.get(name)
    const { now } = this.#options
    const fresh = {
      running: 0,
      waiting: [],
      knownUntil: 0,
      failures: 0,
      countedAt: now(),
      nextAt: 0,
    }
    const network: Network = found ?? fresh
    this.#networks.delete(name)
    this.#networks.set(name, network)
    if (this.#networks.size > this.#bounds.networks) {
      const [oldest] = this.#networks.keys()
      if (oldest !== undefined) this.#networks.delete(oldest)
    }
    return network
  }

  #turn(network: Network, kind: 'known' | 'unknown'): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    network.waiting.push(() => {
      this.#waiting[kind] -= 1
      this.#running[kind] += 1
      network.running += 1
      resolve()
    })
    this.#waiting[kind] += 1
    this.#turns[kind].add(network)
    this.#next()
    return promise
  }

  #next(): void {
    const { running, runningUnknown, ofKnown, ofUnknown } = this.#bounds
    while (this.#running.known + this.#running.unknown < running) {
      const unknownMay = this.#running.unknown < runningUnknown
      const next =
        this.#begin('known', ofKnown) || (unknownMay && this.#begin('unknown', ofUnknown))
      if (!next) return
    }
  }

  #begin(kind: 'known' | 'unknown', most: number): boolean {
    const turns = this.#turns[kind]
    for (const network of turns) {
      if (network.running >= most) continue
      turns.delete(network)
      const begin = network.waiting.shift()
      // The network became known meanwhile, and all its waiting checks were started as known.
      if (!begin) continue
      // Its next check comes after those of all others.
      if (network.waiting.length > 0) turns.add(network)
      begin()
      return true
    }
    return false
  }

  #requireBudget(network: Network): void {
    this.#settle(network)
    const { failures, failureMs, freeFailures } = this.#bounds
    const budgetMs = (network.failures - failures + 1) * failureMs
    const pauseMs = network.failures < freeFailures ? 0 : network.nextAt - this.#options.now()
    const seconds = Math.ceil(Math.max(budgetMs, pauseMs) / 1000)
    if (seconds <= 0) return
    const words = `too many failed logins from this network: retry in ${seconds} s`
    throw new Fault('too-many', words, { detail: String(seconds) })
  }

  #countFailure(network: Network): void {
    this.#settle(network)
    network.failures += 1
    network.nextAt = this.#options.now() + this.#bounds.pauseMs
    // A network that guesses passwords loses its priority.
    if (network.failures >= this.#bounds.failures) network.knownUntil = 0
  }

  /** Counted failures expire one by one. */
  #settle(network: Network): void {
    const now = this.#options.now()
    network.failures = Math.max(
      0,
      network.failures - (now - network.countedAt) / this.#bounds.failureMs,
    )
    network.countedAt = now
  }
}
