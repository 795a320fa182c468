import type { Duplex } from 'node:stream'

import type { WebSocket } from 'ws'

import { endingOf, endings, type Ending } from './endings.ts'

/** The result of a relayed screen. */
export interface RelayResult {
  /** From the guest to the viewer, in bytes. */
  readonly shown: number
  /** From the viewer to the guest, in bytes. */
  readonly typed: number
  readonly endedBy: 'viewer' | 'screen' | 'us'
  /** The close frame that was sent to, or received from, the viewer. */
  readonly ending: Ending
}

export interface RelayOptions {
  /** Ends it. Aborted with an `Ending`, that one is sent to the viewer; with anything else, `endings.stopping`. */
  readonly signal: AbortSignal
  /**
   * Returns the ending for the viewer when the display closes by itself; `error` is set if it broke. Only the caller can
   * find out whether the VM is off or its host is unreachable.
   */
  readonly screenEnded?: (error: Error | undefined) => Ending | Promise<Ending>
  /** Called as bytes pass, for counters that are read while the screen is open. */
  readonly passed?: (shown: number, typed: number) => void
}

/**
 * The maximum number of bytes buffered for a slow viewer; beyond it the display is not read, and QEMU sends no more
 * updates. Two socket reads: one in progress and the next.
 */
const WAITING_BYTES = 128 * 1024
/** Many small frames use more memory than their bytes. */
const WAITING_FRAMES = 128

/** The byte counts so far. */
interface ByteCounts {
  shown: number
  typed: number
}

/**
 * Copies bytes between a viewer and a display until either ends, then closes both. Neither side is read faster than the
 * other accepts. Resolves when both are closed; never rejects.
 */
export async function relay(
  webSocket: WebSocket,
  display: Duplex,
  { signal, screenEnded = judgeEnd, passed }: RelayOptions,
): Promise<RelayResult> {
  const count: ByteCounts = { shown: 0, typed: 0 }
  const ended = Promise.withResolvers<Pick<RelayResult, 'endedBy'> & { ending?: Ending }>()
  // A socket that is already closed emits no further events.
  if (webSocket.readyState !== webSocket.OPEN) ended.resolve({ endedBy: 'viewer' })
  const seen = Promise.withResolvers<Ending>()
  webSocket.once('close', (code: number, reason: Buffer) => {
    seen.resolve({ code, reason: reason.toString() })
    ended.resolve({ endedBy: 'viewer' })
  })
  // An invalid frame is followed by a close event, which reports it.
  webSocket.on('error', () => undefined)
  const stop = (): void => ended.resolve({ endedBy: 'us', ending: endingOf(signal.reason) })
  if (signal.aborted) stop()
  else signal.addEventListener('abort', stop, { once: true })

  const report = passed && (() => passed(count.shown, count.typed))
  showDisplay(display, webSocket, count, report)
  typeIntoDisplay(webSocket, display, count, report, () =>
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
    // If the reason cannot be determined, the host is lost too.
    .catch(() => endings.hostLost)
    .then((ending) => ended.resolve({ endedBy: 'screen', ending: endingOf(ending) }))
  // It was paused until the listeners are attached.
  webSocket.resume()

  const { endedBy, ending } = await ended.promise
  signal.removeEventListener('abort', stop)
  display.destroy()
  // A paused socket would not receive the close frame.
  webSocket.resume()
  if (ending) webSocket.close(ending.code, ending.reason)
  else if (webSocket.readyState === webSocket.CLOSED) seen.resolve({ code: 1006, reason: '' })
  const reported = await seen.promise
  return { ...count, endedBy, ending: ending ?? reported }
}

/** Reads the display only as fast as the viewer accepts data. */
function showDisplay(
  display: Duplex,
  webSocket: WebSocket,
  count: ByteCounts,
  report: (() => void) | undefined,
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
    report?.()
  })
}

/** Reads the viewer only as fast as the display accepts data. */
function typeIntoDisplay(
  webSocket: WebSocket,
  display: Duplex,
  count: ByteCounts,
  report: (() => void) | undefined,
  refuse: () => void,
): void {
  webSocket.on('message', (data: Buffer, isBinary: boolean) => {
    if (!isBinary) return refuse()
    if (!display.writable || webSocket.readyState !== webSocket.OPEN) return
    count.typed += data.length
    if (!display.write(data)) webSocket.pause()
    report?.()
  })
  display.on('drain', () => webSocket.resume())
}

/** The default: a display that breaks means a lost host, one that ends means a VM that is off. */
const judgeEnd = (error: Error | undefined): Ending =>
  error ? endings.hostLost : endings.poweredOff
