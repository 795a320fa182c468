import type { Timers } from './timers.ts'

/** libvirt's second program on the same link: is anybody there? */
export const KEEPALIVE_PROGRAM = 0x6b656570
export const keepaliveProcedure = { ping: 1, pong: 2 } as const

export interface KeepaliveSettings {
  /** How long the link may be silent before the server is asked. */
  readonly intervalMs: number
  /** How many questions may stay unanswered. */
  readonly count: number
}

interface Link {
  readonly timers: Timers
  /** We have stopped reading for a slow reader, so silence is our own doing. */
  isPaused(): boolean
  send(procedure: number): void
  dead(reason: string): void
}

/** Asks a silent server whether it is there, and gives it up after `count` questions. */
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

  /** Anything the server sends shows that it lives. */
  heard(): void {
    this.#heard = true
  }

  // Ticks are counted, not time: a process that was itself asleep must not blame the server.
  #tick(): void {
    const { intervalMs, count } = this.#settings
    if (this.#link.isPaused()) {
      // Its questions lie unread, and this tells the server all the same that we are there.
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
