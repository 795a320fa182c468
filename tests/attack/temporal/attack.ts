/** The input of the callers. */
export interface Attack {
  /** The first of the server's ports. */
  readonly port: number
  /** PEM: the CA of the server's certificate, and the client certificate. */
  readonly ca: string
  /** Default: every call. */
  readonly only?: readonly string[]
  readonly shown: { readonly cert: string; readonly key: string }
}

export interface Attempt {
  readonly port: number
  readonly way: string
  /** Of the call. */
  readonly name: string
  /** The gRPC status code. */
  readonly code?: number | undefined
  readonly answered: boolean
}
