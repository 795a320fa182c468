/** An HTTP error without a Fault kind: method not allowed, body too large. */
export class WorkflowRefusal extends Error {
  override readonly name = 'Refusal'
  readonly status: number
  readonly headers: Readonly<Record<string, string>>

  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message)
    this.status = status
    this.headers = headers
  }
}
