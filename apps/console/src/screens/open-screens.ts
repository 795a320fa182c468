import { endings, type Ending } from '@skerry/screen'
import type { EndedConsole, OpenConsole } from '@skerry/ticket'

/** The database's view of open screens. */
export interface Register {
  /** Returns which of these must end. */
  renew(open: readonly OpenConsole[]): Promise<readonly EndedConsole[]>
  close(console: string, bytes: number, why: string): Promise<void>
}

export interface OpenScreensOptions {
  readonly register: Register
  /** Monotonic, in milliseconds. */
  readonly now: () => number
  /** Waits, or returns early when the signal aborts. */
  readonly pause: (ms: number, signal?: AbortSignal) => Promise<void>
  readonly log: (message: string, cause?: unknown) => void
}

/** How often revoked rights, disabled users and stopped VMs are checked. */
const LOOK_MS = 2000
/**
 * How long a screen continues while the database does not answer. Its viewer's right cannot be checked meanwhile, so the screen
 * ends then; a restart or a failover takes much less.
 */
const UNSURE_MS = 60_000
/** How long the database may take to learn that a VM is off, after its display closed: on a busy host that takes seconds. */
const JUDGE_MS = 10_000
const JUDGE_AGAIN_MS = 250

interface Open {
  bytes: number
  /** When the database last confirmed that it may continue. */
  sureAt: number
  readonly stop: AbortController
}

/** The handle of one screen that is being shown. */
export interface OpenScreen {
  /** Aborted with an `Ending` when it must end. */
  readonly signal: AbortSignal
  readonly passed: (shown: number, typed: number) => void
  /** The display closed by itself: returns what to send to the viewer. */
  judge(): Promise<Ending>
  /** The screen is closed; the database is informed, later if it does not answer now. */
  closed(why: string): void
}

/** The close code by cause; the page selects its advice by it. */
const codeOf: Readonly<Record<EndedConsole['cause'], number>> = {
  vm: endings.poweredOff.code,
  right: endings.rightLost.code,
  silence: endings.stopping.code,
}

/** All screens that this process shows. */
export class OpenScreens {
  readonly #context: OpenScreensOptions
  readonly #open = new Map<string, Open>()
  readonly #closing = new Map<string, { readonly bytes: number; readonly why: string }>()
  #running: Promise<void> | undefined
  #next: Promise<void> | undefined
  #failing = false

  constructor(context: OpenScreensOptions) {
    this.#context = context
  }

  get count(): number {
    return this.#open.size
  }

  /** Whether no screen is open, and the database has recorded every end. */
  get isSettled(): boolean {
    return this.#open.size + this.#closing.size === 0
  }

  begin(console: string): OpenScreen {
    const open: Open = { bytes: 0, sureAt: this.#context.now(), stop: new AbortController() }
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

  /** Renews open screens until the signal aborts. */
  async keep(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#context.pause(LOOK_MS, signal)
      await this.look()
    }
  }

  /** One query for all screens, started after the call. Calls during a running query share the next one. */
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
    const { register, now, log } = this.#context
    const began = now()
    try {
      // A failure to close one must not keep the others from being renewed.
      await Promise.allSettled([...this.#closing].map((each) => this.#close(...each)))
      const requested = [...this.#open]
      const ended = await register.renew(
        requested.map(([console, { bytes }]) => ({ console, bytes })),
      )
      for (const [, open] of requested) open.sureAt = began
      for (const each of ended)
        this.#open
          .get(each.console)
          ?.stop.abort({ code: codeOf[each.cause], reason: each.words } satisfies Ending)
      if (this.#failing) log('the database answers again')
      this.#failing = false
    } catch (error) {
      if (!this.#failing) log('failed to renew open screens, retrying', error)
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
    await this.#context.register.close(console, bytes, why)
    this.#closing.delete(console)
  }

  /** A display closes because its VM is off or its host is lost; the database knows which a moment later. */
  async #judge({ stop: { signal } }: Open): Promise<Ending> {
    const { now, pause } = this.#context
    const until = now() + JUDGE_MS
    for (;;) {
      await this.look()
      if (signal.aborted) return signal.reason as Ending
      if (now() >= until) return endings.hostLost
      await pause(JUDGE_AGAIN_MS, signal)
    }
  }
}
