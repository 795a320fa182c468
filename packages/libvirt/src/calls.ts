import {
  CallAborted,
  CallTimedOut,
  LibvirtError,
  LinkLost,
  ProtocolError,
  readError,
} from './error.ts'
import { encodeFrame, HEADER_BYTES, messageStatus, messageType, type Header } from './frame.ts'
import type { Outbox, Outgoing } from './outbox.ts'
import type { Procedure, StreamProcedure } from './procedure.ts'
import type { Timers } from './timers.ts'
import { XdrReader, type XdrWriter } from './xdr.ts'

export interface CallOptions {
  /** How long to wait for the answer. Default: the `timeoutMs` of `open`; 0 means no limit. */
  readonly timeoutMs?: number | undefined
  readonly signal?: AbortSignal | undefined
}

export type AnyProcedure<Args, Ret> = Procedure<Args, Ret> | StreamProcedure<Args, Ret>

interface Hooks<Ret> {
  /** The serial is chosen, and the call is about to be sent. */
  readonly begin?: (serial: number) => void
  /** The answer has arrived; called before any later message on the link is processed. */
  readonly answered?: (ret: Ret) => void
  /** The answer has arrived after the caller gave up. */
  readonly late?: (ret: Ret) => void
}

interface Waiting {
  readonly procedure: AnyProcedure<unknown, unknown>
  readonly hooks: Hooks<unknown>
  readonly resolve: (ret: unknown) => void
  readonly reject: (error: Error) => void
  outgoing: Outgoing | undefined
  timer: object | undefined
  stopListening: (() => void) | undefined
}

const SERIAL_MAX = 0xffff_ffff

// After the caller gave up, the answer may still come and must be recognised.
const GIVEN_UP_MAX = 1024

interface Surroundings {
  readonly writer: XdrWriter
  readonly outbox: Outbox
  readonly timers: Timers
  readonly timeoutMs: number
  /** A stream uses this serial. */
  readonly isTaken: (serial: number) => boolean
  /** Ends the link. */
  readonly lose: (reason: string) => void
}

/** The pending calls, by serial. */
export class Calls {
  readonly #at: Surroundings
  readonly #waiting = new Map<number, Waiting>()
  readonly #givenUp = new Map<number, Waiting>()
  #serial = 0
  #lost: { readonly reason: string; readonly cause: unknown } | undefined

  constructor(at: Surroundings) {
    this.#at = at
  }

  start<Args, Ret>(
    procedure: AnyProcedure<Args, Ret>,
    args: Args,
    options: CallOptions,
    hooks: Hooks<Ret> = {},
  ): Promise<Ret> {
    const { signal, timeoutMs = this.#at.timeoutMs } = options
    const { promise, resolve, reject } = Promise.withResolvers<Ret>()
    if (this.#lost !== undefined) {
      reject(this.#loss(procedure, this.#lost))
      return promise
    }
    if (signal?.aborted === true) {
      reject(new CallAborted(procedure.name, signal.reason, false))
      return promise
    }
    const serial = this.#nextSerial()
    const { program, number } = procedure
    const header = { program, procedure: number, serial, type: messageType.call, status: 0 }
    let frame: Buffer
    try {
      frame = encodeFrame(this.#at.writer, header, procedure.args, args)
    } catch (error) {
      reject(error)
      return promise
    }
    const waiting = {
      procedure,
      hooks,
      resolve,
      reject,
      outgoing: undefined,
      timer: undefined,
      stopListening: undefined,
    } as Waiting
    this.#waiting.set(serial, waiting)
    hooks.begin?.(serial)
    waiting.outgoing = this.#at.outbox.push(frame)
    this.#limit(serial, waiting, timeoutMs, signal)
    return promise
  }

  /** Handles a reply. Throws a ProtocolError if it answers no pending call. */
  receive(header: Header, frame: Buffer): void {
    const { serial, status } = header
    const waiting = this.#waiting.get(serial)
    const requested = waiting ?? this.#givenUp.get(serial)
    if (
      requested?.procedure.number !== header.procedure ||
      requested.procedure.program !== header.program
    ) {
      throw new ProtocolError(`an answer to call ${serial}, which was not made`)
    }
    if (status !== messageStatus.ok && status !== messageStatus.error) {
      throw new ProtocolError(`an answer with status ${status}`)
    }
    if (waiting === undefined) this.#late(serial, requested, status, frame)
    else this.#answer(serial, waiting, status, frame)
  }

  /** Fails every pending call at once, and all later ones. */
  failAll(reason: string, cause: unknown): void {
    const lost = { reason, cause }
    this.#lost = lost
    const waiting = [...this.#waiting.values()]
    this.#waiting.clear()
    this.#givenUp.clear()
    for (const one of waiting) {
      this.#release(one)
      one.reject(this.#loss(one.procedure, lost))
    }
  }

  #loss(
    { name }: { readonly name: string },
    { reason, cause }: { readonly reason: string; readonly cause: unknown },
  ): LinkLost {
    return new LinkLost(reason, { procedure: name, cause })
  }

  #limit(
    serial: number,
    waiting: Waiting,
    timeoutMs: number,
    signal: AbortSignal | undefined,
  ): void {
    const { name } = waiting.procedure
    if (timeoutMs > 0) {
      waiting.timer = this.#at.timers.set(() => {
        this.#giveUp(serial, (sent) => new CallTimedOut(name, timeoutMs, sent))
      }, timeoutMs)
    }
    if (signal !== undefined) {
      const abort = () => {
        this.#giveUp(serial, (sent) => new CallAborted(name, signal.reason, sent))
      }
      signal.addEventListener('abort', abort)
      waiting.stopListening = () => signal.removeEventListener('abort', abort)
    }
  }

  #answer(serial: number, waiting: Waiting, status: number, frame: Buffer): void {
    this.#waiting.delete(serial)
    this.#release(waiting)
    try {
      const ret = readAnswer(waiting, status, frame)
      waiting.hooks.answered?.(ret)
      waiting.resolve(ret)
    } catch (error) {
      waiting.reject(error as Error)
    }
  }

  #late(serial: number, givenUp: Waiting, status: number, frame: Buffer): void {
    this.#givenUp.delete(serial)
    if (givenUp.hooks.late === undefined) return
    try {
      givenUp.hooks.late(readAnswer(givenUp, status, frame))
    } catch {
      // It failed at the server as well, so there is nothing to undo.
    }
  }

  #giveUp(serial: number, makeError: (sent: boolean) => Error): void {
    const waiting = this.#waiting.get(serial)
    if (waiting === undefined) return
    this.#waiting.delete(serial)
    this.#release(waiting)
    const sent = waiting.outgoing?.sent === true
    if (sent) this.#givenUp.set(serial, waiting)
    else if (waiting.outgoing !== undefined) this.#at.outbox.remove(waiting.outgoing)
    waiting.reject(makeError(sent))
    if (this.#givenUp.size > GIVEN_UP_MAX) {
      this.#at.lose(`libvirt left ${GIVEN_UP_MAX} calls unanswered`)
    }
  }

  #release(waiting: Waiting): void {
    if (waiting.timer !== undefined) this.#at.timers.clear(waiting.timer)
    waiting.stopListening?.()
  }

  /** Serials wrap around after about four thousand million calls; serials in use are skipped. */
  #nextSerial(): number {
    let serial = this.#serial
    do {
      serial = serial === SERIAL_MAX ? 1 : serial + 1
    } while (this.#waiting.has(serial) || this.#givenUp.has(serial) || this.#at.isTaken(serial))
    this.#serial = serial
    return serial
  }
}

function readAnswer(requested: Waiting, status: number, frame: Buffer): unknown {
  const { name, ret } = requested.procedure
  const from = new XdrReader(frame, HEADER_BYTES)
  try {
    const answer = status === messageStatus.error ? readError(name, from) : ret.read(from)
    from.finish()
    if (!(answer instanceof LibvirtError)) return answer
    throw answer
  } catch (error) {
    if (error instanceof LibvirtError) throw error
    throw new ProtocolError(`${name}: invalid answer from libvirt`, { cause: error })
  }
}
