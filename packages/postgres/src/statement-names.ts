/** As many as our own code has by far; what clients make of filters and lists is without end, and is not kept. */
const KEPT = 256
const PARAMETERS_MAX = 32

/** Names for statements with parameters: the database keeps what it has read and planned under a name, per connection. */
export class StatementNames {
  readonly #names = new Map<string, string>()

  /** What the driver is to be asked instead: the same, with a name where it is worth one. */
  named(args: readonly unknown[]): readonly unknown[] {
    const [text, values] = args
    if (typeof text !== 'string' || !Array.isArray(values) || args.length > 2) return args
    if (values.length === 0 || values.length > PARAMETERS_MAX) return args
    const name = this.#nameOf(text)
    return name === undefined ? args : [{ name, text, values }]
  }

  #nameOf(text: string): string | undefined {
    const known = this.#names.get(text)
    if (known !== undefined || this.#names.size >= KEPT) return known
    const name = `s${this.#names.size}`
    this.#names.set(text, name)
    return name
  }
}
