/** Far more than the statements in our code; the variants from filters and lists of clients are unlimited and not named. */
const KEPT = 256
const PARAMETERS_MAX = 32

/** Names for statements with parameters: the database caches parsed and planned statements by name, per connection. */
export class StatementNames {
  readonly #names = new Map<string, string>()

  /** The arguments for the driver: the same, with a name if the statement gets one. */
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
