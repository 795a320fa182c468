import { ErrorLevel } from './constants.gen.ts'
import { errorBody } from './procedures.gen.ts'
import type { Value, XdrReader } from './xdr.ts'

type ErrorBody = Readonly<Value<typeof errorBody>>

/** An error that libvirt itself reported, with its own number and its own words. */
export class LibvirtError extends Error {
  override readonly name = 'LibvirtError'
  readonly procedure: string
  /** virErrorNumber; `ErrorCode` names it. */
  readonly code: number
  /** virErrorDomain: which part of libvirt says so. */
  readonly domain: number
  readonly level: number
  readonly str1: string | null
  readonly str2: string | null
  readonly str3: string | null
  readonly int1: number
  readonly int2: number

  constructor(procedure: string, said: Partial<ErrorBody> & { readonly code: number }) {
    const { code, message } = said
    super(message ?? `libvirt refused ${procedure} without a message (code ${code})`)
    this.procedure = procedure
    this.code = code
    this.domain = said.domain ?? 0
    this.level = said.level ?? ErrorLevel.error
    this.str1 = said.str1 ?? null
    this.str2 = said.str2 ?? null
    this.str3 = said.str3 ?? null
    this.int1 = said.int1 ?? 0
    this.int2 = said.int2 ?? 0
  }
}

export function readError(procedure: string, from: XdrReader): LibvirtError {
  return new LibvirtError(procedure, errorBody.read(from))
}

/**
 * The link is gone: closed by either side, silent for too long, or no longer to be trusted. What a
 * call that waited would have answered is not known; `cause` says why the link went.
 */
export class LinkLost extends Error {
  override readonly name = 'LinkLost'
  /** The call that waited, or undefined where none did. */
  readonly procedure: string | undefined

  constructor(reason: string, more: { procedure?: string; cause?: unknown } = {}) {
    const { procedure, cause } = more
    super(procedure === undefined ? reason : `${procedure}: ${reason}`, { cause })
    this.procedure = procedure
  }
}

/** No answer in time. The answer is thrown away when it comes; the link goes on. */
export class CallTimedOut extends Error {
  override readonly name = 'CallTimedOut'
  readonly procedure: string
  readonly timeoutMs: number
  /** False: the call never left this process, so nothing was done. */
  readonly sent: boolean

  constructor(procedure: string, timeoutMs: number, sent: boolean) {
    super(`${procedure}: libvirt did not answer within ${timeoutMs} ms`)
    this.procedure = procedure
    this.timeoutMs = timeoutMs
    this.sent = sent
  }
}

/** Given up by the caller's own signal, whose reason is the cause. */
export class CallAborted extends Error {
  override readonly name = 'CallAborted'
  readonly procedure: string
  /** False: the call never left this process, so nothing was done. */
  readonly sent: boolean

  constructor(procedure: string, reason: unknown, sent: boolean) {
    super(`${procedure}: given up by its caller`, { cause: reason })
    this.procedure = procedure
    this.sent = sent
  }
}

/** The other side sent something that libvirt's protocol does not allow. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError'
}

/** The server wants to know who is asking, in a way this client does not speak. */
export class AuthenticationNeeded extends Error {
  override readonly name = 'AuthenticationNeeded'
}

/** Events came faster than they were read, and some are lost: look at the whole state again. */
export class EventsLost extends Error {
  override readonly name = 'EventsLost'
}
