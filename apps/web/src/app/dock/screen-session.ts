// The connection of a docked screen over its life: each connection needs a ticket of its own.
import { explain, type End, type Words } from '@skerry/screen/page/explain'
import { ScreenView, type View } from '@skerry/screen/page/screen'

import { explain as explainError } from '../../api/client.ts'

export type ScreenPhase =
  | { readonly kind: 'connecting' | 'connected' }
  /** The screen ended, or the console did not open it. */
  | { readonly kind: 'ended'; readonly words: Words }
  /** The cloud issued no ticket. */
  | { readonly kind: 'refused'; readonly message: string }

export interface SessionContext {
  readonly target: HTMLElement
  readonly view: View
  /** The address of the WebSocket, with a new ticket. */
  readonly requestAddress: () => Promise<string>
  /** Whether to connect again by itself: a VM that is off has no screen. */
  readonly isOn: () => boolean
  readonly onPhase: (phase: ScreenPhase) => void
  readonly onCopied: (text: string) => void
}

/** Later attempts wait longer; after the last one the user decides. */
const AGAIN_MS = [1000, 2000, 5000, 10_000]

export class ScreenSession {
  readonly #context: SessionContext
  #screen: ScreenView | undefined
  #isConnecting = false
  #isClosed = false
  #tries = 0
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(context: SessionContext) {
    this.#context = context
  }

  /** The screen, while there is one. */
  get screen(): ScreenView | undefined {
    return this.#screen
  }

  /** Connects with a new ticket, unless it is connected. */
  async connect(): Promise<void> {
    if (this.#isClosed || this.#isConnecting || this.#screen) return
    clearTimeout(this.#timer)
    this.#isConnecting = true
    const { target, view, requestAddress, onPhase, onCopied } = this.#context
    onPhase({ kind: 'connecting' })
    try {
      const address = await requestAddress()
      if (this.#isClosed) return
      this.#screen = new ScreenView(target, address, view, {
        shown: () => {
          this.#tries = 0
          onPhase({ kind: 'connected' })
        },
        named: () => undefined,
        copied: onCopied,
        ended: ({ opened, understood, code }) =>
          this.#end(
            understood ? (opened ? { how: 'closed', code } : { how: 'refused' }) : NOT_UNDERSTOOD,
          ),
      })
    } catch (error) {
      if (this.#isClosed) return
      onPhase({ kind: 'refused', message: explainError(error) })
      this.#connectLater()
    } finally {
      this.#isConnecting = false
    }
  }

  /** Connects at once, because the user asked for it. */
  connectNow(): void {
    this.#tries = 0
    void this.connect()
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
    this.#screen?.close()
    this.#screen = undefined
  }

  #end(end: End): void {
    this.#screen = undefined
    if (this.#isClosed) return
    const words = explain('docked', end)
    this.#context.onPhase({ kind: 'ended', words })
    if (words.comesBack) this.#connectLater()
  }

  #connectLater(): void {
    const wait = AGAIN_MS[this.#tries++]
    if (wait === undefined) return
    this.#timer = setTimeout(() => this.#context.isOn() && void this.connect(), wait)
  }
}

const NOT_UNDERSTOOD: End = { how: 'not understood' }
