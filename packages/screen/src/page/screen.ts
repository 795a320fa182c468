import RFB from '@novnc/novnc'

import { chordOf, strokes, type Chord } from './keys.ts'

/** Ctrl, Alt and Home: the screen captures every other key, including Tab; this combination leaves it. */
export const isLeaving = ({ key, ctrlKey, altKey }: KeyboardEvent): boolean =>
  key === 'Home' && ctrlKey && altKey

interface LockingKeyboard {
  lock(): Promise<void>
}

/** Full screen: if the browser supports it, Esc and Alt-Tab reach the guest too, and holding Esc leaves. */
export async function fillScreen(element: HTMLElement): Promise<void> {
  await element.requestFullscreen()
  const { keyboard } = navigator as Navigator & { keyboard?: LockingKeyboard }
  await keyboard?.lock().catch(() => undefined)
}

/** Events of an open screen. All text comes from the guest: it is shown as text only, never as markup. */
export interface Listeners {
  shown(): void
  named(name: string): void
  copied(text: string): void
  /** `opened` is false if the WebSocket was rejected: a browser does not report why. */
  ended(end: {
    readonly opened: boolean
    readonly understood: boolean
    readonly code: number
  }): void
}

/** The user's display options; kept across reconnects. */
export interface View {
  fits: boolean
  viewOnly: boolean
}

/** The pause between two characters: a guest's keyboard controller buffers only sixteen strokes. */
const TYPING_MS = 20

/** One connection to one screen, from the opening of its WebSocket to its end. */
export class ScreenView {
  readonly #rfb: RFB
  readonly #socket: WebSocket
  readonly #target: HTMLElement

  /** The address is a path of the page's own server, or the whole address of another one. */
  constructor(target: HTMLElement, address: string, view: View, listeners: Listeners) {
    this.#target = target
    const url = new URL(address, location.href.replace(/^http/, 'ws'))
    this.#socket = new WebSocket(url, 'binary')
    let opened = false
    let understood = true
    this.#socket.addEventListener('open', () => (opened = true))
    this.#socket.addEventListener('close', ({ code }) => {
      // noVNC has its own listener; the page must change after it.
      setTimeout(() => listeners.ended({ opened, understood, code }))
    })
    this.#rfb = new RFB(target, this.#socket, { shared: true })
    this.#rfb.background = 'transparent'
    this.show(view)
    this.#rfb.addEventListener('connect', () => listeners.shown())
    this.#rfb.addEventListener('disconnect', (event) => {
      const { clean } = (event as CustomEvent<{ clean: boolean }>).detail
      // noVNC closes by itself only on a protocol error.
      if (!clean && this.#socket.readyState < WebSocket.CLOSING) understood = false
    })
    for (const name of ['securityfailure', 'credentialsrequired', 'serververification']) {
      this.#rfb.addEventListener(name, () => {
        understood = false
        this.#rfb.disconnect()
      })
    }
    this.#rfb.addEventListener('desktopname', (event) => {
      listeners.named((event as CustomEvent<{ name: string }>).detail.name)
    })
    this.#rfb.addEventListener('clipboard', (event) => {
      listeners.copied((event as CustomEvent<{ text: string }>).detail.text)
    })
  }

  get canvas(): HTMLCanvasElement | undefined {
    return this.#target.querySelector('canvas') ?? undefined
  }

  /** Makes the canvas reachable by keyboard and readable by screen readers; `describedBy` is the id of a text on how to leave it. */
  describe(label: string, describedBy: string): void {
    const { canvas } = this
    if (!canvas) return
    canvas.tabIndex = 0
    canvas.role = 'application'
    canvas.ariaLabel = label
    canvas.setAttribute('aria-describedby', describedBy)
    // noVNC releases held keys when the window loses the focus; losing it to a button of the page must do the same.
    canvas.addEventListener('blur', () => window.dispatchEvent(new Event('blur')))
  }

  show({ fits, viewOnly }: View): void {
    this.#rfb.scaleViewport = fits
    this.#rfb.viewOnly = viewOnly
  }

  focus(): void {
    this.#rfb.focus()
  }

  press(chord: Chord): void {
    for (const [{ keysym, code }, isDown] of strokes(chord)) this.#rfb.sendKey(keysym, code, isDown)
  }

  /** Types a text key by key, for guests without a clipboard. */
  async type(text: string): Promise<void> {
    for (const character of text.replaceAll('\r\n', '\n')) {
      if (this.#socket.readyState !== WebSocket.OPEN) return
      this.press(chordOf(character))
      await new Promise((resolve) => setTimeout(resolve, TYPING_MS))
    }
  }

  paste(text: string): void {
    this.#rfb.clipboardPasteFrom(text)
  }

  close(): void {
    this.#rfb.disconnect()
  }
}
