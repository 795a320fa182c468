import { mkdir, open, readdir, readFile, rm, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'

import { writeDurably } from '@skerry/durable-file'
import { Fault } from '@skerry/fault'
import type { Clock } from '@skerry/service'

import {
  fromJson,
  applyEvent,
  nothingKnown,
  toJson,
  type JournalEvent,
  type JournalState,
  type NewJournalEvent,
} from './journal-state.ts'

const FORMAT = 1
/** The number of full segments that are kept besides the active one: 100,000 events or more. */
const FULL_SEGMENTS = 10
const SEGMENT_EVENTS = 10_000
const BATCH_EVENTS = 500
/** The number of newest events that are kept in memory. */
const TAIL_EVENTS = 1000
const NAME = /^(\d{16})\.jsonl$/

export interface JournalOptions {
  readonly directory: string
  readonly clock: Clock
  readonly log: (message: string, cause?: unknown) => void
  readonly fullSegments?: number
  readonly segmentEvents?: number
}

/** One file: a header that summarises all earlier events, then one event per line. */
interface Segment {
  /** The id of its first event. */
  readonly first: number
  readonly file: string
}

/**
 * The numbered log of events, in the order they were written. An event is not delivered, and
 * `append` does not return, before it survives a power cut; concurrent events share one flush. So
 * an id that a reader has seen never comes to mean another event.
 */
export class Journal implements AsyncDisposable {
  readonly #options: JournalOptions
  readonly #segments: Segment[]
  readonly #known: JournalState
  readonly #listeners = new Set<() => void>()
  #handle: FileHandle
  #bytes: number
  #last: number
  #tail: JournalEvent[] = []
  #queue: { readonly news: NewJournalEvent; readonly done: PromiseWithResolvers<JournalEvent> }[] =
    []
  #writing: Promise<void> | undefined
  #failure: unknown
  #closed = false
  /** Whether all readers have been ended. */
  #notified = false

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
    // A temporary file is a segment whose creation a crash interrupted.
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

  /** The summary of all events so far. */
  get known(): Readonly<JournalState> {
    return this.#known
  }

  get last(): number {
    return this.#last
  }

  get oldest(): number {
    return this.#segments[0]?.first ?? 1
  }

  /** Why the newest event could not be written; undefined if there is no failure. */
  get failure(): unknown {
    return this.#failure
  }

  append(news: NewJournalEvent): Promise<JournalEvent> {
    if (this.#closed) return Promise.reject(new Fault('unavailable', 'the journal is closed'))
    const done = Promise.withResolvers<JournalEvent>()
    this.#queue.push({ news, done })
    this.#writing ??= this.#write()
    return done.promise
  }

  /** Rejects a cursor if not all events after it are available. */
  requireCursor(since: number): void {
    if (since + 1 >= this.oldest && since <= this.#last) return
    const message =
      since > this.#last
        ? `event ${since} has not happened yet; the newest is ${this.#last}`
        : `not all events after ${since} are kept; the oldest is ${this.oldest}`
    throw new Fault('conflict', message, {
      hint: `read GET /api/vms, then request events since ${this.oldest - 1} or without a cursor; the oldest id is ${this.oldest}`,
    })
  }

  /** Every event after this one, then new events until the signal; a Fault if some are no longer kept. */
  async *follow(since: number, signal: AbortSignal): AsyncGenerator<JournalEvent, void> {
    let wake = Promise.withResolvers<void>()
    const record = () => wake.resolve()
    this.#listeners.add(record)
    signal.addEventListener('abort', record, { once: true })
    try {
      for (let at = since; !signal.aborted && !this.#notified;) {
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
      this.#listeners.delete(record)
      signal.removeEventListener('abort', record)
    }
  }

  /** Ends all current and later readers; writing continues. */
  endReaders(): void {
    this.#notified = true
    this.#wakeAll()
  }

  /** Ends all readers, writes pending events, and closes the file. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true
    this.endReaders()
    await this.#writing
    await this.#handle.close()
  }

  /** The last id that a reader at `at` can read in one step. */
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
      // The lines after it may be incomplete.
      if (event.id > upTo) return
      yield event
      if (event.id === upTo) return
    }
  }

  async #write(): Promise<void> {
    const { clock, log, segmentEvents = SEGMENT_EVENTS } = this.#options
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
        log('failed to write the journal', error)
        const fault = new Fault('unavailable', 'the journal cannot be written', {
          cause: error,
          hint: `free disk space in ${this.#options.directory}`,
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
      // An incomplete batch must not precede the next one.
      await this.#handle.truncate(this.#bytes).catch(() => undefined)
      throw error
    }
    this.#bytes += bytes.length
    this.#last += events.length
    this.#failure = undefined
    for (const event of events) applyEvent(this.#known, event)
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
    // A listener may remove itself.
    for (const listener of Array.from(this.#listeners)) listener()
  }
}

interface Opened {
  readonly handle: FileHandle
  readonly known: JournalState
  readonly bytes: number
  readonly last: number
}

/** Reads a segment to its end and prepares it for writing; an incomplete last line is dropped. */
async function openSegment({ first, file }: Segment): Promise<Opened> {
  const text = await readFile(file)
  const bytes = text.lastIndexOf('\n') + 1
  const [head = '', ...lines] = text.subarray(0, bytes).toString().split('\n')
  const known = readHead(file, head)
  let last = first - 1
  for (const line of lines) {
    const event = readEvent(line)
    if (event === undefined) continue
    applyEvent(known, event)
    last = event.id
  }
  const handle = await open(file, 'r+')
  if (bytes < text.length) await handle.truncate(bytes)
  return { handle, known, bytes, last }
}

/** Creates the file atomically. */
async function beginSegment(
  directory: string,
  first: number,
  known: JournalState,
): Promise<Segment> {
  const file = join(directory, `${String(first).padStart(16, '0')}.jsonl`)
  await writeDurably(file, `${JSON.stringify({ format: FORMAT, known: toJson(known) })}\n`)
  return { first, file }
}

function readHead(file: string, line: string): JournalState {
  try {
    const { format, known } = JSON.parse(line) as { format: number; known: unknown }
    if (format === FORMAT) return fromJson(known)
    throw new Error(`its format is ${format}, this program reads ${FORMAT}`)
  } catch (cause) {
    throw new Fault('unavailable', `the journal ${file} cannot be read`, {
      cause,
      hint: 'restore it from a backup, or move it away: its events are then lost',
    })
  }
}

/** Undefined for an invalid line: a power cut may leave anything after the last confirmed event. */
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
