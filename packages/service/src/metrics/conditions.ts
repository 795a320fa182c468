/** One health condition of a server. */
export interface Condition {
  readonly name: string
  readonly ok: boolean
  /** When `ok` last changed. */
  readonly since: Date
  /** What was found and, if not ok, what to do about it. */
  readonly message: string
}

/** Receives a condition whose `ok` has changed, and the first one that is not ok. */
export type OnChange = (condition: Condition) => void

/** The health conditions of a server by name, in this process only. */
export class Conditions {
  readonly #all = new Map<string, Condition>()
  readonly #changed: OnChange

  constructor(changed: OnChange = () => undefined) {
    this.#changed = changed
  }

  /** A change of only the message is stored but not reported: it may contain a figure that differs each time. */
  set(name: string, ok: boolean, message: string, now: Date): void {
    const before = this.#all.get(name)
    const isSame = before?.ok === ok
    const condition = { name, ok, since: isSame ? before.since : now, message }
    this.#all.set(name, condition)
    if (!isSame && !(before === undefined && ok)) this.#changed(condition)
  }

  /** In the order in which they were set first. */
  list(): readonly Condition[] {
    return [...this.#all.values()]
  }

  /** Those that are not ok. */
  failing(): readonly Condition[] {
    return this.list().filter(({ ok }) => !ok)
  }
}
