/** One request to the cloud API. The transport adds the credentials. */
export interface CloudRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** From `/api/` on. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** Instead of `body`, for content that is not a document. */
  readonly bytes?: Uint8Array
  readonly signal?: AbortSignal
}

export interface CloudAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly text: string
}

/**
 * The transport of a client: HTTPS with a token, or mutual TLS between machines with the grant of a workflow run. Throws a Fault
 * `unavailable` if there is no response.
 */
export type SendRequest = (request: CloudRequest) => Promise<CloudAnswer>
