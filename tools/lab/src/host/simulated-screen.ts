// A simulated screen: RFB 3.8 as a viewer sees it (RFC 6143, 7.1 to 7.3), named after its VM; after that a test controls it.
import { Duplex } from 'node:stream'

export interface SimulatedScreenOptions {
  /** The desktop name: it shows a viewer which screen it has. */
  readonly name: string
  /** Bytes per second that it sends after the handshake; Infinity: as fast as the viewer reads. Default: none. */
  readonly paints?: number
}

const VERSION = 'RFB 003.008\n'
const NO_PASSWORD = Buffer.from([1, 1])
const ADMITTED = Buffer.alloc(4)
const TICK_MS = 100
const CHUNK = Buffer.alloc(64 * 1024, 0x5a)

/** The complete handshake of a viewer. */
export const VIEWER_HELLO: Buffer = Buffer.concat([Buffer.from(VERSION), Buffer.from([1, 1])])

/** After the handshake it echoes what is typed. */
export function simulatedScreen({ name, paints = 0 }: SimulatedScreenOptions): Duplex {
  let heard = Buffer.alloc(0)
  let isOpen = false
  let room = true
  let timer: NodeJS.Timeout | undefined
  const paint = (): void => {
    if (!isOpen || paints === 0) return
    if (paints === Infinity) {
      while (room) room = screen.push(CHUNK)
      return
    }
    timer ??= setInterval(() => {
      let left = (paints * TICK_MS) / 1000
      for (; room && left > 0; left -= CHUNK.length) {
        room = screen.push(CHUNK.subarray(0, Math.min(left, CHUNK.length)))
      }
    }, TICK_MS)
  }
  const screen = new Duplex({
    read() {
      room = true
      paint()
    },
    write(chunk: Buffer, _encoding, done) {
      if (isOpen) screen.push(chunk)
      else {
        const before = heard.length
        heard = Buffer.concat([heard, chunk])
        const passed = (at: number) => before < at && heard.length >= at
        if (passed(12)) screen.push(NO_PASSWORD)
        if (passed(13)) screen.push(ADMITTED)
        if (passed(14)) {
          screen.push(welcome(name))
          isOpen = true
          const more = heard.subarray(14)
          if (more.length > 0) screen.push(more)
          paint()
        }
      }
      done()
    },
    final(done) {
      done()
      screen.destroy()
    },
    destroy(error, done) {
      clearInterval(timer)
      done(error)
    },
  })
  screen.push(VERSION)
  return screen
}

/** ServerInit: 64 × 48 pixels of 32 bits, and the name. */
function welcome(name: string): Buffer {
  const text = Buffer.from(name)
  const head = Buffer.alloc(24)
  head.writeUInt16BE(64, 0)
  head.writeUInt16BE(48, 2)
  Buffer.from([32, 24, 0, 1, 0, 255, 0, 255, 0, 255, 16, 8, 0]).copy(head, 4)
  head.writeUInt32BE(text.length, 20)
  return Buffer.concat([head, text])
}

/** The length of the greeting: what follows was painted or typed. */
export const greetingLength = (name: string): number =>
  VERSION.length + NO_PASSWORD.length + ADMITTED.length + 24 + Buffer.byteLength(name)
