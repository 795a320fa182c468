import { ErrorLevel } from './constants.gen.ts'
import { errorBody } from './procedures.gen.ts'
import type { Value, XdrReader } from './xdr.ts'

type ErrorBody = Readonly<Value<typeof errorBody>>

/** An error reported by libvirt itself, with its code and message. */
export class LibvirtError extends Error {
  override readonly name = 'LibvirtError'
  readonly procedure: string
  /** virErrorNumber; `ErrorCode` names it. */
  readonly code: number
  /** virErrorDomain: the part of libvirt that reported it. */
  readonly domain: number
  readonly level: number
  readonly str1: string | null
  readonly str2: string | null
  readonly str3: string | null
  readonly int1: number
  readonly int2: number

  constructor(procedure: string, body: Partial<ErrorBody> & { readonly code: number }) {
    const { code, message } = body
    super(message ?? `libvirt rejected ${procedure} without a message (code ${code})`)
    this.procedure = procedure
    this.code = code
    this.domain = body.domain ?? 0
    this.level = body.level ?? ErrorLevel.error
    this.str1 = body.str1 ?? null
    this.str2 = body.str2 ?? null
    this.str3 = body.str3 ?? null
    this.int1 = body.int1 ?? 0
    this.int2 = body.int2 ?? 0
  }
}

export function readError(procedure: string, from: XdrReader): LibvirtError {
  return new LibvirtError(procedure, errorBody.read(from))
}

/**
 * The link is lost: closed by either side, silent for too long, or in an invalid state. The outcome
 * of a pending call is unknown; `cause` is the reason.
 */
export class LinkLost extends Error {
  override readonly name = 'LinkLost'
  /** The pending call, or undefined if there was none. */
  readonly procedure: string | undefined

  constructor(reason: string, more: { procedure?: string; cause?: unknown } = {}) {
    const { procedure, cause } = more
    super(procedure === undefined ? reason : `${procedure}: ${reason}`, { cause })
    this.procedure = procedure
  }
}

/** No answer in time. A late answer is discarded; the link stays open. */
export class CallTimedOut extends Error {
  override readonly name = 'CallTimedOut'
  readonly procedure: string
  readonly timeoutMs: number
  /** False: the call was never sent, so nothing was done. */
  readonly sent: boolean

  constructor(procedure: string, timeoutMs: number, sent: boolean) {
    super(`${procedure}: libvirt did not answer within ${timeoutMs} ms`)
    this.procedure = procedure
    this.timeoutMs = timeoutMs
    this.sent = sent
  }
}

/** Aborted by the caller's signal, whose reason is the cause. */
export class CallAborted extends Error {
  override readonly name = 'CallAborted'
  readonly procedure: string
  /** False: the call was never sent, so nothing was done. */
  readonly sent: boolean

  constructor(procedure: string, reason: unknown, sent: boolean) {
    super(`${procedure}: aborted by its caller`, { cause: reason })
    this.procedure = procedure
    this.sent = sent
  }
}

/** The peer violated libvirt's protocol. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError'
}

/** The server requires an authentication method that this client does not support. */
export class AuthenticationNeeded extends Error {
  override readonly name = 'AuthenticationNeeded'
}

/** Events arrived faster than they were read, and some are lost: read the whole state again. */
export class EventsLost extends Error {
  override readonly name = 'EventsLost'
}
