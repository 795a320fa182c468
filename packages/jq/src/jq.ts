// jq as WebAssembly. It is a program for one input: each run gets a new instance, which costs 3 ms, because what a run leaves in
// memory (an allocation, an abort, `halt`) could make the next run fail or return wrong results.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

export interface JqLimits {
  /** Memory that jq may allocate, including its stack, so that endless recursion is bounded too. */
  readonly memoryBytes: number
  /** Bytes that it may print: results and errors. */
  readonly outputBytes: number
}

export interface JqEnd {
  /** 0: success. 2, 3, 5: jq's error message is in `errors`. */
  readonly status: number
  readonly output: string
  readonly errors: string
}

export type Jq = (program: string, input: string, limits: JqLimits) => Promise<JqEnd>

/** A limit was exceeded; the message is for the author of the expression. */
export class Exceeded extends Error {
  override readonly name = 'Exceeded'
}

type WasmFunction = (...numbers: number[]) => number
type WasmModule = { readonly compiled?: never }
interface WasmInstance {
  readonly exports: Readonly<Record<string, unknown>>
}
interface WasmMemory {
  readonly buffer: ArrayBuffer
}
/** The parts of WebAssembly that we use; TypeScript declares it only with all browser types. */
const { WebAssembly } = globalThis as unknown as {
  WebAssembly: {
    compile(code: Uint8Array): Promise<WasmModule>
    Instance: new (module: WasmModule, imports: object) => WasmInstance
    Memory: new (size: { initial: number }) => WasmMemory
  }
}
interface Emscripten {
  callMain(args: string[]): number
}
type MakeEmscripten = (options: {
  thisProgram: string
  instantiateWasm(
    imports: { a: Record<string, WasmFunction> },
    receive: (instance: WasmInstance) => unknown,
  ): unknown
}) => Promise<Emscripten>

const BAD_DESCRIPTOR = 8
/** Linux ENOENT, negative as a system call returns it. */
const NOT_THERE = -44

/** Reads and compiles jq: 60 ms, once per thread. */
export async function loadJq(): Promise<Jq> {
  const require = createRequire(import.meta.url)
  const path = require.resolve('jq-wasm/dist/build/jq.js')
  const [, code] = /base64,([A-Za-z0-9+/=]+)"/.exec(readFileSync(path, 'utf8')) ?? []
  if (code === undefined) throw new Error(`no WebAssembly found in ${path}`)
  const module = await WebAssembly.compile(Buffer.from(code, 'base64'))
  const make = require(path) as MakeEmscripten
  return async (program, input, limits) => runOnce(make, module, program, input, limits)
}

async function runOnce(
  make: MakeEmscripten,
  module: WasmModule,
  program: string,
  input: string,
  limits: JqLimits,
): Promise<JqEnd> {
  const streams = new Streams(input, limits.outputBytes)
  const jq = await make({
    thisProgram: 'jq',
    instantiateWasm({ a }, receive) {
      const instance = new WebAssembly.Instance(module, { a: streams.around(a, limits) })
      streams.memory = Object.values(instance.exports).find(
        (each) => each instanceof WebAssembly.Memory,
      )
      return receive(instance)
    },
  })
  try {
    const status = jq.callMain(['-c', '-M', program])
    return { status, output: streams.text(1), errors: streams.text(2) }
  } catch (error) {
    if (error instanceof Exceeded) throw error
    // Any other error is a rejected allocation or a stack overflow.
    throw new Exceeded('the expression exceeds its memory limit', { cause: error })
  }
}

/**
 * The system calls that jq may use: read its input and print. The package's own streams copy everything for each byte, so that
 * 100 kB take 8 s; and they would open files, though only of an in-memory file system.
 */
class Streams {
  memory: WasmMemory | undefined
  private readonly input: Buffer
  private readonly printed: Record<number, Buffer[]> = { 1: [], 2: [] }
  private readonly limit: number
  private read = 0
  private size = 0

  constructor(input: string, limit: number) {
    this.input = Buffer.from(input)
    this.limit = limit
  }

  text(stream: 1 | 2): string {
    return Buffer.concat(this.printed[stream] ?? []).toString()
  }

  around(imports: Record<string, WasmFunction>, limits: JqLimits): Record<string, WasmFunction> {
    const own: Record<string, (was: WasmFunction) => WasmFunction> = {
      _fd_read:
        () =>
        (file, ...more) =>
          file === 0 ? this.fill(more) : BAD_DESCRIPTOR,
      _fd_write:
        () =>
        (file, ...more) =>
          this.print(file ?? 0, more),
      ___syscall_openat: () => () => NOT_THERE,
      _environ_sizes_get: () => (count, bytes) => this.put(count, 0) + this.put(bytes, 0),
      _environ_get: () => () => 0,
      _emscripten_resize_heap: (was) => (bytes) =>
        (bytes ?? 0) >>> 0 > limits.memoryBytes ? 0 : was(bytes ?? 0),
    }
    const wanted = new Set(Object.keys(own))
    const all = Object.entries(imports).map(([key, was]) => {
      wanted.delete(was.name)
      return [key, own[was.name]?.(was) ?? was] as const
    })
    if (wanted.size > 0) throw new Error(`jq does not import ${[...wanted].join(', ')}`)
    return Object.fromEntries(all)
  }

  /** Reads into the buffers of a system call: a list of (pointer, length), and the address of the total. */
  private fill([list = 0, count = 0, total = 0]: number[]): number {
    let done = 0
    for (const buffer of this.buffers(list, count)) {
      const piece = this.input.subarray(this.read, this.read + buffer.length)
      buffer.set(piece)
      this.read += piece.length
      done += piece.length
    }
    return this.put(total, done)
  }

  private print(file: number, [list = 0, count = 0, total = 0]: number[]): number {
    const to = this.printed[file]
    if (to === undefined) return BAD_DESCRIPTOR
    let done = 0
    for (const buffer of this.buffers(list, count)) {
      to.push(Buffer.from(buffer))
      done += buffer.length
    }
    this.size += done
    if (this.size > this.limit) {
      throw new Exceeded(`the expression returns more than ${this.limit} bytes`)
    }
    return this.put(total, done)
  }

  private buffers(list: number, count: number): Uint8Array[] {
    const { buffer } = this.memory ?? new WebAssembly.Memory({ initial: 0 })
    const words = new Uint32Array(buffer, list, count * 2)
    return Array.from(
      { length: count },
      (_, n) => new Uint8Array(buffer, words[2 * n] ?? 0, words[2 * n + 1] ?? 0),
    )
  }

  private put(pointer: number | undefined, value: number): 0 {
    if (this.memory !== undefined && pointer !== undefined) {
      new DataView(this.memory.buffer).setUint32(pointer, value, true)
    }
    return 0
  }
}
