import { randomBytes } from 'node:crypto'

const KEY = 'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ=='
const usual = [
  'host: x',
  'connection: Upgrade',
  'upgrade: websocket',
  'sec-websocket-version: 13',
  KEY,
]
const requested = (line: string, ...headers: readonly string[]): string =>
  [line, ...headers, '', ''].join('\r\n')

/** Requests that are invalid handshakes, each in its own way; each is answered or disconnected. */
export function malformedHandshakes(count: number): (string | Buffer)[] {
  const path = '/screen/vm-00000000-0000-4000-8000-000000000000'
  const get = `GET ${path}?ticket=${'A'.repeat(43)} HTTP/1.1`
  const without = (at: number) => usual.filter((_, n) => n !== at)
  const kinds: ((n: number) => string | Buffer)[] = [
    () => requested(get, ...without(3)),
    () => requested(get, ...without(4)),
    () => requested(get, ...without(2), 'upgrade: h2c'),
    () => requested(get, ...without(4), 'sec-websocket-key: short'),
    () => requested(get, ...without(3), 'sec-websocket-version: 99'),
    () => requested(get.replace('GET', 'POST'), ...usual, 'content-length: 5'),
    () => requested(get, ...usual, 'transfer-encoding: chunked', 'content-length: 3'),
    () =>
      requested(
        get,
        ...usual,
        'sec-websocket-extensions: permessage-deflate; server_max_window_bits=99',
      ),
    () => requested(get, ...usual, `sec-websocket-protocol: ${'a,'.repeat(2000)}`),
    () => requested(get, ...usual, `x: ${'a'.repeat(17_000)}`),
    () => requested(`GET /${'a'.repeat(17_000)} HTTP/1.1`, ...usual),
    () => requested(`GET ${path}?ticket=%%%zz HTTP/1.1`, ...usual),
    () => requested(`GET ${path}?ticket=a&ticket=b HTTP/1.1`, ...usual),
    () => requested('GET http://evil.example/screen HTTP/1.1', ...usual),
    () => requested('GET \\\\x HTTP/9.9', ...usual),
    () => requested('\u0000\u0001', ...usual),
    () => `${get}\r\nx: y`,
    () => 'GET',
    () => randomBytes(2000),
    () => Buffer.concat([Buffer.from(requested(get, ...usual)), randomBytes(3000)]),
  ]
  return Array.from({ length: count }, (_, at) => kinds[at % kinds.length]?.(at) ?? '')
}

/** Frames that RFC 6455 forbids, or that are too large: after them the screen is closed. */
export function malformedFrames(count: number): Buffer[] {
  const head = (first: number, length: number, masked = true): Buffer => {
    const mask = masked ? [1, 2, 3, 4] : []
    return Buffer.from([first, (masked ? 0x80 : 0) | length, ...mask])
  }
  const huge = (bits: bigint): Buffer => {
    const frame = Buffer.alloc(14)
    frame.writeUInt16BE(0x82ff, 0)
    frame.writeBigUInt64BE(bits, 2)
    return frame
  }
  const kinds: (() => Buffer)[] = [
    // Not masked; reserved bits; unknown opcodes; a fragmented control frame, or one that is too long.
    () => Buffer.concat([head(0x82, 5, false), Buffer.from('hello')]),
    () => Buffer.concat([head(0xf2, 1), Buffer.from('x')]),
    () => Buffer.concat([head(0x83, 1), Buffer.from('x')]),
    () => Buffer.concat([head(0x8b, 1), Buffer.from('x')]),
    () => Buffer.concat([head(0x09, 1), Buffer.from('x')]),
    () => Buffer.concat([Buffer.from([0x89, 0xfe, 0, 200, 1, 2, 3, 4]), Buffer.alloc(200)]),
    // A continuation without a start; text, also invalid text; a close with half a code.
    () => Buffer.concat([head(0x80, 1), Buffer.from('x')]),
    () => Buffer.concat([head(0x81, 2), Buffer.from('hi')]),
    () => Buffer.concat([head(0x81, 2), Buffer.from([0xff, 0xfe])]),
    () => Buffer.concat([head(0x88, 1), Buffer.from('x')]),
    // Larger than a frame may be, and than any number.
    () => huge(2n * 1024n * 1024n),
    () => huge(0xffff_ffff_ffff_ffffn),
  ]
  return Array.from({ length: count }, (_, at) => kinds[at % kinds.length]?.() ?? Buffer.alloc(0))
}
