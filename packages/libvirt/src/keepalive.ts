import type { Timers } from './timers.ts'

/** libvirt's keepalive program on the same link. */
export const KEEPALIVE_PROGRAM = 0x6b656570
export const keepaliveProcedure = { ping: 1, pong: 2 } as const

export interface KeepaliveSettings {
  /** How long the link may be silent before a ping is sent. */
  readonly intervalMs: number
  /** How many pings may stay unanswered. */
  readonly count: number
}

interface Link {
  readonly timers: Timers
  /** Reading is paused because of a slow reader, so the silence is our own doing. */
  isPaused(): boolean
  send(procedure: number): void
  dead(reason: string): void
}

/** Pings a silent server, and declares it dead after `count` unanswered pings. */
export class Keepalive {
  readonly #settings: KeepaliveSettings
  readonly #link: Link
  #timer: object | undefined
  #heard = false
  #unanswered = 0

  constructor(settings: KeepaliveSettings, link: Link) {
    this.#settings = settings
    this.#link = link
  }

  start(): void {
    this.#timer = this.#link.timers.set(() => this.#tick(), this.#settings.intervalMs)
  }

  stop(): void {
    if (this.#timer !== undefined) this.#link.timers.clear(this.#timer)
    this.#timer = undefined
  }

  /** Any message of the server shows that it is alive. */
  heard(): void {
    this.#heard = true
  }

  // Ticks are counted, not time: if this process was suspended, the server is not to blame.
  #tick(): void {
    const { intervalMs, count } = this.#settings
    if (this.#link.isPaused()) {
      // Its pings are unread; this pong shows the server that we are alive.
      this.#unanswered = 0
      this.#link.send(keepaliveProcedure.pong)
    } else if (this.#heard) {
      this.#unanswered = 0
    } else if (this.#unanswered === count) {
      this.#link.dead(`libvirt has been silent for ${intervalMs * (count + 1)} ms`)
      return
    } else {
      this.#unanswered += 1
      this.#link.send(keepaliveProcedure.ping)
    }
    this.#heard = false
    this.start()
  }
}
