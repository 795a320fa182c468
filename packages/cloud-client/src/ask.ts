/** One request of the cloud's API, to an address of its own. Who asks is the affair of who hands this in. */
export interface CloudRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** From `/api/` on. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** In its place, where what is sent is no document. */
  readonly bytes?: Uint8Array
  readonly signal?: AbortSignal
}

export interface CloudAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly text: string
}

/**
 * How a client reaches the cloud: over HTTPS with a token, or from machine to machine with the grant of a run. Throws a Fault
 * `unavailable` where there is no answer.
 */
export type Ask = (request: CloudRequest) => Promise<CloudAnswer>
