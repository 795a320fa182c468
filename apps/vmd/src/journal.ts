import { mkdir, open, readdir, readFile, rename, rm, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'

import { Fault } from '@skerry/fault'
import type { Clock } from '@skerry/service'

import {
  fromJson,
  learn,
  nothingKnown,
  toJson,
  type JournalEvent,
  type Known,
  type News,
} from './known.ts'

const FORMAT = 1
/** Besides the segment that is written to there are this many full ones: 100,000 events and more. */
const FULL_SEGMENTS = 10
const SEGMENT_EVENTS = 10_000
const BATCH_EVENTS = 500
/** So many of the newest are at hand without reading a file. */
const TAIL_EVENTS = 1000
const NAME = /^(\d{16})\.jsonl$/

export interface JournalOptions {
  readonly directory: string
  readonly clock: Clock
  readonly note: (message: string, cause?: unknown) => void
  readonly fullSegments?: number
  readonly segmentEvents?: number
}

/** One file: a head that sums up all before it, then one event per line. */
interface Segment {
  /** The id that its first event has or will have. */
  readonly first: number
  readonly file: string
}

/**
 * What happened, numbered, for ever in the order it was written. An event is told to nobody, and
 * `append` does not return, before a power cut can no longer take it back; events that come
 * together share one flush. So no reader ever holds a number that comes to mean something else.
 */
export class Journal implements AsyncDisposable {
  readonly #options: JournalOptions
  readonly #segments: Segment[]
  readonly #known: Known
  readonly #listeners = new Set<() => void>()
  #handle: FileHandle
  #bytes: number
  #last: number
  #tail: JournalEvent[] = []
  #queue: { readonly news: News; readonly done: PromiseWithResolvers<JournalEvent> }[] = []
  #writing: Promise<void> | undefined
  #failure: unknown
  #closed = false
  /** Whether nobody is told anything any more. */
  #told = false

  private constructor(options: JournalOptions, segments: Segment[], opened: Opened) {
    this.#options = options
    this.#segments = segments
    this.#known = opened.known
    this.#handle = opened.handle
    this.#bytes = opened.bytes
    this.#last = opened.last
  }

  static async open(options: JournalOptions): Promise<Journal> {
    const { directory } = options
    await mkdir(directory, { recursive: true, mode: 0o700 })
    const names = (await readdir(directory)).sort()
    // A temporary file is a segment that a crash kept from beginning.
    for (const name of names.filter((each) => each.endsWith('.tmp')))
      await rm(join(directory, name))
    const segments = names.flatMap((name) => {
      const first = NAME.exec(name)?.[1]
      return first === undefined ? [] : [{ first: Number(first), file: join(directory, name) }]
    })
    if (segments.length === 0) segments.push(await beginSegment(directory, 1, nothingKnown()))
    const newest = segments.at(-1) as Segment
    return new Journal(options, segments, await openSegment(newest))
  }

  /** All that was told so far, summed up. */
  get known(): Readonly<Known> {
    return this.#known
  }

  get last(): number {
    return this.#last
  }

  get oldest(): number {
    return this.#segments[0]?.first ?? 1
  }

  /** Why the newest event could not be written; undefined while all is well. */
  get failure(): unknown {
    return this.#failure
  }

  append(news: News): Promise<JournalEvent> {
    if (this.#closed) return Promise.reject(new Fault('unavailable', 'the journal is closed'))
    const done = Promise.withResolvers<JournalEvent>()
    this.#queue.push({ news, done })
    this.#writing ??= this.#write()
    return done.promise
  }

  /** Refuses a reader who cannot be told all that came after this event. */
  requireCursor(since: number): void {
    if (since + 1 >= this.oldest && since <= this.#last) return
    const message =
      since > this.#last
        ? `event ${since} has not happened yet; the newest is ${this.#last}`
        : `not all events after ${since} are kept; the oldest is ${this.oldest}`
    throw new Fault('conflict', message, {
      hint: `read GET /api/vms, then ask for events since ${this.oldest - 1} or without a number; the oldest id is ${this.oldest}`,
    })
  }

  /** Every event after this one, then those to come, until the signal; a Fault where some are gone. */
  async *follow(since: number, signal: AbortSignal): AsyncGenerator<JournalEvent, void> {
    let wake = Promise.withResolvers<void>()
    const tell = () => wake.resolve()
    this.#listeners.add(tell)
    signal.addEventListener('abort', tell, { once: true })
    try {
      for (let at = since; !signal.aborted && !this.#told;) {
        wake = Promise.withResolvers()
        if (at >= this.#last) {
          await wake.promise
          continue
        }
        this.requireCursor(at)
        const upTo = this.#endAfter(at)
        for await (const event of this.#read(at, upTo)) {
          if (signal.aborted) return
          yield event
        }
        at = upTo
      }
    } finally {
      this.#listeners.delete(tell)
      signal.removeEventListener('abort', tell)
    }
  }

  /** Ends all readers, and those who come later; writing goes on. */
  endReaders(): void {
    this.#told = true
    this.#wakeAll()
  }

  /** Ends all readers, writes what is waiting, and lets the file go. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true
    this.endReaders()
    await this.#writing
    await this.#handle.close()
  }

  /** The last id that can be read in one go by who has read up to `at`. */
  #endAfter(at: number): number {
    if (this.#isInTail(at)) return this.#last
    const next = this.#segments.find(({ first }) => first > at + 1)
    return next === undefined ? this.#last : next.first - 1
  }

  #isInTail(at: number): boolean {
    const [first] = this.#tail
    return first !== undefined && first.id <= at + 1
  }

  async *#read(after: number, upTo: number): AsyncGenerator<JournalEvent, void> {
    if (this.#isInTail(after)) {
      yield* this.#tail.filter(({ id }) => id > after && id <= upTo)
      return
    }
    const segment = this.#segments.findLast(({ first }) => first <= after + 1)
    if (segment === undefined) return
    await using handle = await open(segment.file)
    for await (const line of handle.readLines({ autoClose: false })) {
      const event = readEvent(line)
      if (event === undefined || event.id <= after) continue
      // What comes behind it may be half written.
      if (event.id > upTo) return
      yield event
      if (event.id === upTo) return
    }
  }

  async #write(): Promise<void> {
    const { clock, note, segmentEvents = SEGMENT_EVENTS } = this.#options
    while (this.#queue.length > 0) {
      const begins = (this.#segments.at(-1) as Segment).first
      const room = begins + segmentEvents - 1 - this.#last
      const batch = this.#queue.splice(0, Math.min(BATCH_EVENTS, room > 0 ? room : segmentEvents))
      try {
        if (room <= 0) await this.#turnOver()
        const at = clock.now().toISOString()
        const first = this.#last + 1
        const events = batch.map(({ news }, index) => ({ id: first + index, at, ...news }))
        await this.#commit(events)
        batch.forEach(({ done }, index) => done.resolve(events[index] as JournalEvent))
      } catch (error) {
        this.#failure = error
        note('the journal could not be written', error)
        const fault = new Fault('unavailable', 'the journal cannot be written', {
          cause: error,
          hint: `see that there is room in ${this.#options.directory}`,
        })
        for (const { done } of batch) done.reject(fault)
      }
    }
    this.#writing = undefined
  }

  async #commit(events: readonly JournalEvent[]): Promise<void> {
    const bytes = Buffer.from(events.map((event) => `${JSON.stringify(event)}\n`).join(''))
    try {
      await writeAll(this.#handle, bytes, this.#bytes)
      await this.#handle.datasync()
    } catch (error) {
      // Half a batch must not stay in front of the next one.
      await this.#handle.truncate(this.#bytes).catch(() => undefined)
      throw error
    }
    this.#bytes += bytes.length
    this.#last += events.length
    this.#failure = undefined
    for (const event of events) learn(this.#known, event)
    this.#tail = [...this.#tail, ...events].slice(-TAIL_EVENTS)
    this.#wakeAll()
  }

  async #turnOver(): Promise<void> {
    const { directory, fullSegments = FULL_SEGMENTS } = this.#options
    const next = await beginSegment(directory, this.#last + 1, this.#known)
    const { handle, bytes } = await openSegment(next)
    await this.#handle.close()
    this.#handle = handle
    this.#bytes = bytes
    this.#segments.push(next)
    while (this.#segments.length > fullSegments + 1) {
      const oldest = this.#segments.shift()
      if (oldest) await rm(oldest.file, { force: true })
    }
  }

  #wakeAll(): void {
    for (const listener of [...this.#listeners]) listener()
  }
}

interface Opened {
  readonly handle: FileHandle
  readonly known: Known
  readonly bytes: number
  readonly last: number
}

/** Reads a segment to its end and makes it ready to be written to; a torn last line is dropped. */
async function openSegment({ first, file }: Segment): Promise<Opened> {
  const text = await readFile(file)
  const bytes = text.lastIndexOf('\n') + 1
  const [head = '', ...lines] = text.subarray(0, bytes).toString().split('\n')
  const known = readHead(file, head)
  let last = first - 1
  for (const line of lines) {
    const event = readEvent(line)
    if (event === undefined) continue
    learn(known, event)
    last = event.id
  }
  const handle = await open(file, 'r+')
  if (bytes < text.length) await handle.truncate(bytes)
  return { handle, known, bytes, last }
}

/** The file is there whole or not at all. */
async function beginSegment(directory: string, first: number, known: Known): Promise<Segment> {
  const file = join(directory, `${String(first).padStart(16, '0')}.jsonl`)
  {
    await using handle = await open(`${file}.tmp`, 'w', 0o600)
    await handle.writeFile(`${JSON.stringify({ format: FORMAT, known: toJson(known) })}\n`)
    await handle.sync()
  }
  await rename(`${file}.tmp`, file)
  await using parent = await open(directory)
  await parent.sync()
  return { first, file }
}

function readHead(file: string, line: string): Known {
  try {
    const { format, known } = JSON.parse(line) as { format: number; known: unknown }
    if (format === FORMAT) return fromJson(known)
    throw new Error(`it has format ${format}, this program reads ${FORMAT}`)
  } catch (cause) {
    throw new Fault('unavailable', `the journal ${file} cannot be read`, {
      cause,
      hint: 'put it back from a backup, or move it away: its events are then told no more',
    })
  }
}

/** Undefined for what is no event: a power cut may leave anything where nothing was promised yet. */
function readEvent(line: string): JournalEvent | undefined {
  try {
    const event = JSON.parse(line) as Partial<JournalEvent> | null
    return typeof event?.id === 'number' ? (event as JournalEvent) : undefined
  } catch {
    return undefined
  }
}

async function writeAll(handle: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    const { bytesWritten } = await handle.write(bytes, done, undefined, position + done)
    done += bytesWritten
  }
}
