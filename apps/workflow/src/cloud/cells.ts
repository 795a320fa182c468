import { Fault } from '@skerry/fault'
import {
  MachineLink,
  readText,
  reviveFault,
  sharing,
  type HostRequest,
  type MachineIdentity,
} from '@skerry/host-api'

/** The machine listener of a cell. */
export interface CellAddress {
  readonly address: string
  readonly port: number
}

export interface CellAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
}

/** Large enough for a query page of the longest records. */
const BYTES_MAX = 4 * 1024 * 1024

interface Links {
  readonly cert: string
  readonly all: readonly MachineLink[]
}

/** The machine listeners of a cloud. All cells are equivalent. */
export class Cells implements Disposable {
  readonly #addresses: readonly CellAddress[]
  readonly #identity: () => MachineIdentity
  #links: Links | undefined
  /** The index of the cell that responded last. */
  #at = 0

  /** `identity`: this server's current certificate for other machines. */
  constructor(addresses: readonly CellAddress[], identity: () => MachineIdentity) {
    if (addresses.length === 0)
      throw new Fault('invalid', 'a workflow server needs at least one cell')
    this.#addresses = addresses
    this.#identity = identity
  }

  /** Sends the request to one cell after the other until one responds, with any status. */
  async ask(requested: HostRequest): Promise<CellAnswer> {
    const links = this.#current()
    let last: unknown
    for (let tried = 0; tried < links.length; tried += 1) {
      const at = (this.#at + tried) % links.length
      try {
        const answer = await (links[at] as MachineLink).ask(requested)
        const { statusCode: status = 0, headers } = answer
        const text = await readText(answer, BYTES_MAX)
        this.#at = at
        return { status, headers, text }
      } catch (error) {
        requested.signal?.throwIfAborted()
        last = error
        if (!(error instanceof Fault) || error.kind !== 'unavailable') throw error
      }
    }
    throw last
  }

  /** Returns a cell's JSON response, or throws the fault that it reports. */
  async report(requested: HostRequest): Promise<unknown> {
    const { status, text } = await this.ask(requested)
    if (status !== 200) throw reviveFault(text)
    return JSON.parse(text)
  }

  /** A renewed certificate needs new links. Requests in progress on the old links finish there. */
  #current(): readonly MachineLink[] {
    const identity = this.#identity()
    if (this.#links?.cert === identity.cert) return this.#links.all
    for (const old of this.#links?.all ?? []) old.retire()
    const shared = sharing(identity)
    const all = this.#addresses.map((each) => new MachineLink(each, shared, { role: 'cell' }))
    this.#links = { cert: identity.cert, all }
    return all
  }

  [Symbol.dispose](): void {
    for (const link of this.#links?.all ?? []) link[Symbol.dispose]()
    this.#links = undefined
  }
}
