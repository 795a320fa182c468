import { endings, type Ending } from '@skerry/screen'
import type { Ended, OpenConsole } from '@skerry/ticket'

/** What the database is told of open screens, and says of them. */
export interface Register {
  /** Says which of these must end. */
  renew(open: readonly OpenConsole[]): Promise<readonly Ended[]>
  close(console: string, bytes: number, why: string): Promise<void>
}

export interface Keeping {
  readonly register: Register
  /** Monotonic, in milliseconds. */
  readonly now: () => number
  /** Waits, or ends early when the signal says so. */
  readonly pause: (ms: number, signal?: AbortSignal) => Promise<void>
  readonly log: (message: string, cause?: unknown) => void
}

/** Rights that were lost, users who were disabled and VMs that were stopped are seen after this. */
const LOOK_MS = 2000
/**
 * How long a screen goes on while the database does not answer. Nobody could say meanwhile that its viewer may not look any
 * more, so it ends; a restart or a failover takes much less.
 */
const UNSURE_MS = 60_000
/** How long the database may take to hear that a VM is off, after its screen went dark. */
const JUDGE_MS = 3000
const JUDGE_AGAIN_MS = 250

interface Open {
  bytes: number
  /** When the database last said that it may go on. */
  sureAt: number
  readonly stop: AbortController
}

/** One screen that is shown, as the one who shows it holds it. */
export interface OpenScreen {
  /** Aborted with an `Ending` when it must end. */
  readonly signal: AbortSignal
  readonly passed: (shown: number, typed: number) => void
  /** Its display ended by itself: what the viewer is told. */
  judge(): Promise<Ending>
  /** It is over; the database is told, later if it is away now. */
  closed(why: string): void
}

/** By what ended: the database's words, and the code by which the page knows what to advise. */
const codeOf: Readonly<Record<Ended['cause'], number>> = {
  vm: endings.poweredOff.code,
  right: endings.rightLost.code,
  silence: endings.stopping.code,
}

/** All screens that this process shows. */
export class OpenScreens {
  readonly #world: Keeping
  readonly #open = new Map<string, Open>()
  readonly #closing = new Map<string, { readonly bytes: number; readonly why: string }>()
  #running: Promise<void> | undefined
  #next: Promise<void> | undefined
  #failing = false

  constructor(world: Keeping) {
    this.#world = world
  }

  get count(): number {
    return this.#open.size
  }

  /** Whether nothing is shown any more, and the database has heard of every end. */
  get isSettled(): boolean {
    return this.#open.size + this.#closing.size === 0
  }

  begin(console: string): OpenScreen {
    const open: Open = { bytes: 0, sureAt: this.#world.now(), stop: new AbortController() }
    this.#open.set(console, open)
    return {
      signal: open.stop.signal,
      passed: (shown, typed) => void (open.bytes = shown + typed),
      judge: () => this.#judge(open),
      closed: (why) => {
        this.#open.delete(console)
        this.#closing.set(console, { bytes: open.bytes, why })
        void this.look()
      },
    }
  }

  endAll(ending: Ending): void {
    for (const { stop } of this.#open.values()) stop.abort(ending)
  }

  /** Renews what is open, until the signal says otherwise. */
  async keep(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#world.pause(LOOK_MS, signal)
      await this.look()
    }
  }

  /** One question for all of them, begun after it was asked for. Those who ask while one is under way share the next. */
  look(): Promise<void> {
    if (this.#running) {
      this.#next ??= this.#running.then(() => {
        this.#next = undefined
        return this.look()
      })
      return this.#next
    }
    this.#running = this.#pass().finally(() => (this.#running = undefined))
    return this.#running
  }

  async #pass(): Promise<void> {
    const { register, now, log } = this.#world
    const began = now()
    try {
      // What cannot be closed now must not keep the others from being renewed.
      await Promise.allSettled([...this.#closing].map((each) => this.#close(...each)))
      const asked = [...this.#open]
      const ended = await register.renew(asked.map(([console, { bytes }]) => ({ console, bytes })))
      for (const [, open] of asked) open.sureAt = began
      for (const each of ended)
        this.#open
          .get(each.console)
          ?.stop.abort({ code: codeOf[each.cause], reason: each.why } satisfies Ending)
      if (this.#failing) log('the database answers again')
      this.#failing = false
    } catch (error) {
      if (!this.#failing) log('open screens cannot be renewed; it is tried again', error)
      this.#failing = true
      for (const { sureAt, stop } of this.#open.values()) {
        if (now() - sureAt >= UNSURE_MS) stop.abort(endings.stopping)
      }
    }
  }

  async #close(
    console: string,
    { bytes, why }: { readonly bytes: number; readonly why: string },
  ): Promise<void> {
    await this.#world.register.close(console, bytes, why)
    this.#closing.delete(console)
  }

  /** A display that ends is a VM that is off or a host that is lost; which, the database knows a moment later. */
  async #judge({ stop: { signal } }: Open): Promise<Ending> {
    const { now, pause } = this.#world
    const until = now() + JUDGE_MS
    for (;;) {
      await this.look()
      if (signal.aborted) return signal.reason as Ending
      if (now() >= until) return endings.hostLost
      await pause(JUDGE_AGAIN_MS, signal)
    }
  }
}
