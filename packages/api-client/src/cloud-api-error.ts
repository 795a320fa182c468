import type { CloudDocuments } from './documents.gen.ts'

/** A response that is an error. */
export class CloudApiError extends Error {
  override readonly name = 'CloudApiError'
  readonly status: number
  /** One word for a program: 'NOT_FOUND'. */
  readonly code: string
  readonly requestId: string | undefined
  /** In seconds, if the server says when to try again. */
  readonly retryAfter: number | undefined

  constructor(error: CloudDocuments['Error'], headers: Headers) {
    super(error.message)
    this.status = error.majorErrorCode
    this.code = error.minorErrorCode
    this.requestId = headers.get('x-request-id') ?? undefined
    const seconds = headers.get('retry-after')
    this.retryAfter = seconds === null ? undefined : Number(seconds)
  }
}
