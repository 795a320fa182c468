// A hostile display: names and clipboard are chosen by the guest. It implements just enough RFB 3.8 (RFC 6143) to be accepted,
// and records the input.
import { once } from 'node:events'
import { Duplex } from 'node:stream'

const KEY_EVENT = 4
const CUT_TEXT = 6
/** Lengths of a viewer's messages, by type, if they are fixed. */
const lengths: Readonly<Record<number, number>> = { 0: 20, 3: 10, [KEY_EVENT]: 8, 5: 6 }
const DESKTOP_NAME = -307
const SIZE = 64

export interface SimulatedDisplay {
  readonly stream: Duplex
  /** Keysyms, with whether they were pressed, in order. */
  readonly keys: (readonly [number, boolean])[]
  readonly clipboards: string[]
  rename(name: string): void
  copy(text: string): void
}

export function simulatedDisplay(name = 'simulated'): SimulatedDisplay {
  const out: Buffer[] = []
  let wake = (): void => undefined
  let waiting = Buffer.alloc(0)
  const stream = new Duplex({
    read() {
      wake = () => {
        for (const chunk of out.splice(0)) stream.push(chunk)
      }
      wake()
    },
    write(chunk: Buffer, _, done) {
      waiting = Buffer.concat([waiting, chunk])
      stream.emit('typed')
      done()
    },
  })
  const say = (...parts: Buffer[]): void => {
    out.push(...parts)
    wake()
  }
  const take = async (length: number): Promise<Buffer> => {
    while (waiting.length < length) await once(stream, 'typed')
    const taken = waiting.subarray(0, length)
    waiting = waiting.subarray(length)
    return taken
  }
  const display: SimulatedDisplay = {
    stream,
    keys: [],
    clipboards: [],
    rename: (text) => say(update(rectangle(0, 0, DESKTOP_NAME), counted(Buffer.from(text)))),
    copy: (text) => say(Buffer.from([3, 0, 0, 0]), counted(Buffer.from(text, 'latin1'))),
  }
  const serve = async (): Promise<void> => {
    say(Buffer.from('RFB 003.008\n'))
    await take(12)
    say(Buffer.from([1, 1]))
    await take(1)
    say(Buffer.alloc(4))
    await take(1)
    const format = [32, 24, 0, 1, 0, 255, 0, 255, 0, 255, 16, 8, 0, 0, 0, 0]
    say(number16(SIZE, SIZE), Buffer.from(format), counted(Buffer.from(name)))
    say(update(rectangle(SIZE, SIZE, 0), Buffer.alloc(SIZE * SIZE * 4, 0x7f)))
    for (;;) {
      const type = (await take(1))[0] ?? 0
      if (type === 2) await take((await take(3)).readUInt16BE(1) * 4)
      else if (type === CUT_TEXT)
        display.clipboards.push((await take((await take(7)).readUInt32BE(3))).toString('latin1'))
      else {
        const body = await take((lengths[type] ?? 1) - 1)
        if (type === KEY_EVENT) display.keys.push([body.readUInt32BE(3), body[0] === 1])
      }
    }
  }
  void serve()
  return display
}

const number16 = (...values: number[]): Buffer =>
  Buffer.from(values.flatMap((value) => [value >> 8, value & 255]))

function counted(bytes: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return Buffer.concat([length, bytes])
}

function rectangle(width: number, height: number, encoding: number): Buffer {
  const kind = Buffer.alloc(4)
  kind.writeInt32BE(encoding)
  return Buffer.concat([number16(0, 0, width, height), kind])
}

const update = (...parts: Buffer[]): Buffer =>
  Buffer.concat([Buffer.from([0, 0]), number16(1), ...parts])
