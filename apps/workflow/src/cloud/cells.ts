import { Fault } from '@skerry/fault'
import {
  MachineLink,
  readText,
  reviveFault,
  sharing,
  type Asked,
  type Identity,
} from '@skerry/host-api'

/** Where a cell takes machines in. */
export interface CellAddress {
  readonly address: string
  readonly port: number
}

export interface Told {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
}

/** A page of a query, of the longest records there are. */
const BYTES_MAX = 4 * 1024 * 1024

interface Links {
  readonly cert: string
  readonly all: readonly MachineLink[]
}

/** The machines' doors of a cloud: whichever of them answers is as good as any other. */
export class Cells implements Disposable {
  readonly #addresses: readonly CellAddress[]
  readonly #identity: () => Identity
  #links: Links | undefined
  /** The one that answered last. */
  #at = 0

  /** `identity`: what this server is to other machines, as it is at that moment. */
  constructor(addresses: readonly CellAddress[], identity: () => Identity) {
    if (addresses.length === 0) throw new Fault('invalid', 'a workflow server needs a cell to ask')
    this.#addresses = addresses
    this.#identity = identity
  }

  /** Asks one cell after the other until one answers, whatever it answers. */
  async ask(asked: Asked): Promise<Told> {
    const links = this.#current()
    let last: unknown
    for (let tried = 0; tried < links.length; tried += 1) {
      const at = (this.#at + tried) % links.length
      try {
        const answer = await (links[at] as MachineLink).ask(asked)
        const { statusCode: status = 0, headers } = answer
        const text = await readText(answer, BYTES_MAX)
        this.#at = at
        return { status, headers, text }
      } catch (error) {
        asked.signal?.throwIfAborted()
        last = error
        if (!(error instanceof Fault) || error.kind !== 'unavailable') throw error
      }
    }
    throw last
  }

  /** What a cell says as JSON, or the fault that it says it as. */
  async tell(asked: Asked): Promise<unknown> {
    const { status, text } = await this.ask(asked)
    if (status !== 200) throw reviveFault(text)
    return JSON.parse(text)
  }

  /** A renewed certificate needs links of its own; what is under way over the old ones ends there. */
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
