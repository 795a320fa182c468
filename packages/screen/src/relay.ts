import type { Duplex } from 'node:stream'

import type { WebSocket } from 'ws'

import { endingOf, endings, type Ending } from './endings.ts'

/** How a screen that was shown came to its end. */
export interface Relayed {
  /** From the guest to the viewer, in bytes. */
  readonly shown: number
  /** From the viewer to the guest, in bytes. */
  readonly typed: number
  readonly endedBy: 'viewer' | 'screen' | 'us'
  /** What the viewer was told, or told us. */
  readonly ending: Ending
}

export interface RelayOptions {
  /** Ends it. Aborted with an `Ending`, its words are told to the viewer; with anything else, that the console stops. */
  readonly signal: AbortSignal
  /**
   * What the viewer is told when the display ends by itself; `error` is there when it broke. Only the caller can find
   * out whether the VM is off or its host away.
   */
  readonly screenEnded?: (error: Error | undefined) => Ending | Promise<Ending>
  /** Told as bytes pass, for counters that are read while the screen is open. */
  readonly passed?: (shown: number, typed: number) => void
}

/**
 * No more than this waits in memory for a viewer that reads slowly; then the display is read no further, and QEMU sends
 * no more updates. Two reads of a socket: one is under way while the next is taken.
 */
const WAITING_BYTES = 128 * 1024
/** Many small frames weigh more than their bytes. */
const WAITING_FRAMES = 128

/** What a relay is asked while it runs: how much passed. */
interface Passed {
  shown: number
  typed: number
}

/**
 * Carries bytes between a viewer and a display until either ends, then closes both. Neither side is read faster than the
 * other takes. Resolves when both are closed; it never rejects.
 */
export async function relay(
  webSocket: WebSocket,
  display: Duplex,
  { signal, screenEnded = judgeEnd, passed }: RelayOptions,
): Promise<Relayed> {
  const count: Passed = { shown: 0, typed: 0 }
  const ended = Promise.withResolvers<Pick<Relayed, 'endedBy'> & { ending?: Ending }>()
  // A closed socket has said its last before anybody listens; nothing would ever come.
  if (webSocket.readyState !== webSocket.OPEN) ended.resolve({ endedBy: 'viewer' })
  const seen = Promise.withResolvers<Ending>()
  webSocket.once('close', (code: number, reason: Buffer) => {
    seen.resolve({ code, reason: reason.toString() })
    ended.resolve({ endedBy: 'viewer' })
  })
  // What is wrong with a frame is told by the close that follows.
  webSocket.on('error', () => undefined)
  const stop = (): void => ended.resolve({ endedBy: 'us', ending: endingOf(signal.reason) })
  if (signal.aborted) stop()
  else signal.addEventListener('abort', stop, { once: true })

  const tell = passed && (() => passed(count.shown, count.typed))
  showDisplay(display, webSocket, count, tell)
  typeIntoDisplay(webSocket, display, count, tell, () =>
    ended.resolve({ endedBy: 'viewer', ending: endings.textRefused }),
  )
  let broke: Error | undefined
  display.once('error', (error) => (broke = error))
  display.on('error', () => undefined)
  const gone = Promise.withResolvers<void>()
  display.once('end', gone.resolve).once('close', gone.resolve)
  if (display.destroyed || display.readableEnded) gone.resolve()
  void gone.promise
    .then(() => screenEnded(broke))
    // Who cannot find out why has lost the host too.
    .catch(() => endings.hostLost)
    .then((ending) => ended.resolve({ endedBy: 'screen', ending: endingOf(ending) }))
  // It was held until somebody listens.
  webSocket.resume()

  const { endedBy, ending } = await ended.promise
  signal.removeEventListener('abort', stop)
  display.destroy()
  // A close frame can only be heard by one who reads.
  webSocket.resume()
  if (ending) webSocket.close(ending.code, ending.reason)
  else if (webSocket.readyState === webSocket.CLOSED) seen.resolve({ code: 1006, reason: '' })
  const told = await seen.promise
  return { ...count, endedBy, ending: ending ?? told }
}

/** The display is read only as fast as the viewer takes. */
function showDisplay(
  display: Duplex,
  webSocket: WebSocket,
  count: Passed,
  tell: (() => void) | undefined,
): void {
  let frames = 0
  const sent = (): void => {
    frames -= 1
    if (
      display.isPaused() &&
      frames < WAITING_FRAMES / 2 &&
      webSocket.bufferedAmount < WAITING_BYTES
    )
      display.resume()
  }
  display.on('data', (chunk: Buffer) => {
    if (webSocket.readyState !== webSocket.OPEN) return
    count.shown += chunk.length
    frames += 1
    webSocket.send(chunk, { binary: true }, sent)
    if (frames >= WAITING_FRAMES || webSocket.bufferedAmount >= WAITING_BYTES) display.pause()
    tell?.()
  })
}

/** The viewer is read only as fast as the display takes. */
function typeIntoDisplay(
  webSocket: WebSocket,
  display: Duplex,
  count: Passed,
  tell: (() => void) | undefined,
  refuse: () => void,
): void {
  webSocket.on('message', (data: Buffer, isBinary: boolean) => {
    if (!isBinary) return refuse()
    if (!display.writable || webSocket.readyState !== webSocket.OPEN) return
    count.typed += data.length
    if (!display.write(data)) webSocket.pause()
    tell?.()
  })
  display.on('drain', () => webSocket.resume())
}

/** When nobody knows better: a display that breaks is a host that is away, one that ends is a VM that is off. */
const judgeEnd = (error: Error | undefined): Ending =>
  error ? endings.hostLost : endings.poweredOff
