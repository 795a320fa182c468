/**
 * How one value of type T is written to and read from the wire (XDR, RFC 4506).
 * `shape` describes the codec as data, for code that traverses all codecs.
 */
export interface Codec<T> {
  readonly shape: XdrShape
  write(out: XdrWriter, value: T): void
  read(from: XdrReader): T
}

export type XdrShape =
  | { readonly kind: 'nothing' | 'int' | 'uint' | 'hyper' | 'uhyper' | 'double' }
  | { readonly kind: 'string' | 'opaque' | 'chars'; readonly max: number }
  | { readonly kind: 'fixed'; readonly length: number }
  | { readonly kind: 'optional'; readonly of: Codec<unknown> }
  | { readonly kind: 'array'; readonly of: Codec<unknown>; readonly max: number }
  | { readonly kind: 'struct'; readonly fields: Readonly<Record<string, Codec<unknown>>> }
  | { readonly kind: 'typedParam' }

/** The value type of a codec. */
export type Value<C> = C extends Codec<infer T> ? T : never

/** Bytes that violate the protocol, or a value that cannot be encoded. */
export class XdrError extends Error {
  override readonly name = 'XdrError'
}

const SLAB_BYTES = 64 * 1024

/**
 * Writes frames one after another into one slab of memory. A frame is a view of the slab, never a
 * copy; a full slab is left to its frames, and a new one is allocated.
 */
export class XdrWriter {
  #slab: Buffer = Buffer.allocUnsafeSlow(SLAB_BYTES)
  #start = 0
  #offset = 0

  /** Starts a frame and reserves space for its header, which is known only at the end. */
  begin(headerBytes: number): void {
    if (this.#slab.length > SLAB_BYTES) {
      // A large frame had its own slab; later frames must not keep it alive.
      this.#slab = Buffer.allocUnsafeSlow(SLAB_BYTES)
      this.#offset = 0
    }
    this.#start = this.#offset
    this.#reserve(headerBytes)
    this.#offset += headerBytes
  }

  /** The frame since `begin`. */
  end(): Buffer {
    return this.#slab.subarray(this.#start, this.#offset)
  }

  /** Discards the frame since `begin`. */
  undo(): void {
    this.#offset = this.#start
  }

  uint(value: number): void {
    if (value >>> 0 !== value) throw new XdrError(`${value} is not an unsigned 32-bit integer`)
    this.#reserve(4)
    this.#offset = this.#slab.writeUInt32BE(value, this.#offset)
  }

  int(value: number): void {
    if ((value | 0) !== value) throw new XdrError(`${value} is not a 32-bit integer`)
    this.#reserve(4)
    this.#offset = this.#slab.writeInt32BE(value, this.#offset)
  }

  hyper(value: bigint): void {
    if (BigInt.asIntN(64, value) !== value) throw new XdrError(`${value} is not a 64-bit integer`)
    this.#reserve(8)
    this.#offset = this.#slab.writeBigInt64BE(value, this.#offset)
  }

  uhyper(value: bigint): void {
    if (BigInt.asUintN(64, value) !== value) {
      throw new XdrError(`${value} is not an unsigned 64-bit integer`)
    }
    this.#reserve(8)
    this.#offset = this.#slab.writeBigUInt64BE(value, this.#offset)
  }

  double(value: number): void {
    this.#reserve(8)
    this.#offset = this.#slab.writeDoubleBE(value, this.#offset)
  }

  string(value: string, max: number): void {
    // The server is written in C: text after a zero byte would silently be lost there.
    if (value.includes('\0'))
      throw new XdrError('a string for libvirt must not contain a zero byte')
    if (!value.isWellFormed()) throw new XdrError('a string for libvirt must be valid Unicode')
    const room = value.length < 256 ? value.length * 3 : Buffer.byteLength(value)
    this.#reserve(room + 8)
    const length = this.#slab.write(value, this.#offset + 4)
    if (length > max)
      throw new XdrError(`a string of ${length} bytes; libvirt accepts at most ${max}`)
    this.#slab.writeUInt32BE(length, this.#offset)
    this.#offset += 4 + length
    this.#pad(length)
  }

  /** Unmodified bytes, then zeros up to the next multiple of four. */
  fixed(value: Uint8Array, length: number): void {
    if (value.length !== length) throw new XdrError(`${value.length} bytes, not ${length}`)
    this.raw(value)
    this.#pad(length)
  }

  opaque(value: Uint8Array, max: number): void {
    if (value.length > max)
      throw new XdrError(`${value.length} bytes; libvirt accepts at most ${max}`)
    this.uint(value.length)
    this.fixed(value, value.length)
  }

  /** Unmodified bytes, without length and padding. */
  raw(value: Uint8Array): void {
    this.#reserve(value.length + 3)
    this.#slab.set(value, this.#offset)
    this.#offset += value.length
  }

  #pad(length: number): void {
    for (let left = padding(length); left > 0; left -= 1) this.#slab[this.#offset++] = 0
  }

  #reserve(bytes: number): void {
    if (this.#offset + bytes <= this.#slab.length) return
    const used = this.#offset - this.#start
    const next = Buffer.allocUnsafeSlow(Math.max(SLAB_BYTES, (used + bytes) * 2))
    this.#slab.copy(next, 0, this.#start, this.#offset)
    this.#slab = next
    this.#start = 0
    this.#offset = used
  }
}

/** Reads from one payload. Everything it returns is a copy, so the payload's memory can be reused. */
export class XdrReader {
  readonly #buffer: Buffer
  #offset: number
  readonly #end: number

  constructor(buffer: Buffer, start = 0, end = buffer.length) {
    this.#buffer = buffer
    this.#offset = start
    this.#end = end
  }

  get left(): number {
    return this.#end - this.#offset
  }

  uint(): number {
    const at = this.#take(4)
    return this.#buffer.readUInt32BE(at)
  }

  int(): number {
    const at = this.#take(4)
    return this.#buffer.readInt32BE(at)
  }

  hyper(): bigint {
    const at = this.#take(8)
    return this.#buffer.readBigInt64BE(at)
  }

  uhyper(): bigint {
    const at = this.#take(8)
    return this.#buffer.readBigUInt64BE(at)
  }

  double(): number {
    const at = this.#take(8)
    return this.#buffer.readDoubleBE(at)
  }

  string(max: number): string {
    const length = this.#length(max)
    const at = this.#take(length + padding(length))
    return this.#buffer.toString('utf8', at, at + length)
  }

  fixed(length: number): Uint8Array {
    const at = this.#take(length + padding(length))
    return new Uint8Array(this.#buffer.subarray(at, at + length))
  }

  opaque(max: number): Uint8Array {
    return this.fixed(this.#length(max))
  }

  /** A number of elements. Each takes at least four bytes, so an invalid number is detected before any allocation. */
  count(max: number): number {
    const count = this.#length(max)
    if (count * 4 > this.left) throw new XdrError(`${count} elements do not fit in the message`)
    return count
  }

  finish(): void {
    if (this.left > 0) throw new XdrError(`${this.left} bytes left over after the last field`)
  }

  #length(max: number): number {
    const length = this.uint()
    if (length > max) throw new XdrError(`a length of ${length}; the protocol allows ${max}`)
    return length
  }

  #take(bytes: number): number {
    const at = this.#offset
    if (at + bytes > this.#end) throw new XdrError('the message ends within a field')
    this.#offset = at + bytes
    return at
  }
}

export const nothing: Codec<void> = {
  shape: { kind: 'nothing' },
  write: () => {},
  read: () => undefined,
}

export const int: Codec<number> = {
  shape: { kind: 'int' },
  write: (out, value) => out.int(value),
  read: (from) => from.int(),
}

export const uint: Codec<number> = {
  shape: { kind: 'uint' },
  write: (out, value) => out.uint(value),
  read: (from) => from.uint(),
}

export const hyper: Codec<bigint> = {
  shape: { kind: 'hyper' },
  write: (out, value) => out.hyper(value),
  read: (from) => from.hyper(),
}

export const uhyper: Codec<bigint> = {
  shape: { kind: 'uhyper' },
  write: (out, value) => out.uhyper(value),
  read: (from) => from.uhyper(),
}

export const double: Codec<number> = {
  shape: { kind: 'double' },
  write: (out, value) => out.double(value),
  read: (from) => from.double(),
}

export function string(max: number): Codec<string> {
  return {
    shape: { kind: 'string', max },
    write: (out, value) => out.string(value, max),
    read: (from) => from.string(max),
  }
}

/** A fixed number of bytes. */
export function fixed(length: number): Codec<Uint8Array> {
  return {
    shape: { kind: 'fixed', length },
    write: (out, value) => out.fixed(value, length),
    read: (from) => from.fixed(length),
  }
}

export function opaque(max: number): Codec<Uint8Array> {
  return {
    shape: { kind: 'opaque', max },
    write: (out, value) => out.opaque(value, max),
    read: (from) => from.opaque(max),
  }
}

/** C's `char name[n]`: each character takes one word, and a zero ends the text. */
export function chars(max: number): Codec<string> {
  return {
    shape: { kind: 'chars', max },
    write(out, value) {
      const bytes = Buffer.from(value)
      if (bytes.length >= max) throw new XdrError(`a text of ${bytes.length} bytes; max ${max - 1}`)
      for (let index = 0; index < max; index += 1) out.int(bytes[index] ?? 0)
    },
    read(from) {
      const bytes = Buffer.alloc(max)
      for (let index = 0; index < max; index += 1) bytes[index] = from.int()
      const end = bytes.indexOf(0)
      return bytes.toString('utf8', 0, end === -1 ? max : end)
    },
  }
}

export function optional<T>(of: Codec<T>): Codec<T | null> {
  return {
    shape: { kind: 'optional', of },
    write(out, value) {
      out.uint(value === null ? 0 : 1)
      if (value !== null) of.write(out, value)
    },
    read(from) {
      const present = from.uint()
      if (present > 1) throw new XdrError(`an invalid presence flag ${present}, expected 0 or 1`)
      return present === 0 ? null : of.read(from)
    },
  }
}

export function array<T>(of: Codec<T>, max: number): Codec<T[]> {
  return {
    shape: { kind: 'array', of, max },
    write(out, value) {
      if (value.length > max)
        throw new XdrError(`${value.length} elements; libvirt accepts at most ${max}`)
      out.uint(value.length)
      for (const element of value) of.write(out, element)
    },
    read(from) {
      const count = from.count(max)
      const elements: T[] = []
      for (let index = 0; index < count; index += 1) elements.push(of.read(from))
      return elements
    },
  }
}

type Fields<T> = { readonly [Name in keyof T]: Codec<T[Name]> }

/** Members in declaration order, as XDR lays a struct out. */
export function struct<T extends object>(fields: Fields<T>): Codec<T> {
  const members = Object.entries(fields) as [keyof T, Codec<T[keyof T]>][]
  return {
    shape: { kind: 'struct', fields },
    write(out, value) {
      for (const [name, codec] of members) codec.write(out, value[name])
    },
    read(from) {
      const value = {} as T
      for (const [name, codec] of members) value[name] = codec.read(from)
      return value
    },
  }
}

function padding(length: number): number {
  return -length & 3
}
