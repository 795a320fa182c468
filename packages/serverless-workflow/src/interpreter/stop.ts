/** Why work in progress must stop. */
export type StopWord =
  /** A user canceled the run. */
  | 'canceled'
  /** Another branch won or failed. */
  | 'lost'
  | 'too late'
  /** The run continues from the same place under a new history. */
  | 'leaving'

/** Thrown when a run stops. A `catch` in a definition does not see it. */
export class RunStopped extends Error {
  override readonly name = 'Stopped'
  readonly word: StopWord

  constructor(word: StopWord) {
    super(word)
    this.word = word
  }
}

/** Signals all listeners to stop, once. Temporal has its own mechanism, but the interpreter is independent of Temporal. */
export class Stop {
  private stopWord: StopWord | undefined
  private readonly listeners = new Set<(word: StopWord) => void>()

  get word(): StopWord | undefined {
    return this.stopWord
  }

  stop(word: StopWord): void {
    if (this.stopWord !== undefined) return
    this.stopWord = word
    for (const report of this.listeners) report(word)
    this.listeners.clear()
  }

  /** Returns a function that removes the listener. */
  onStop(report: (word: StopWord) => void): () => void {
    if (this.stopWord !== undefined) {
      report(this.stopWord)
      return () => undefined
    }
    this.listeners.add(report)
    return () => this.listeners.delete(report)
  }

  check(): void {
    if (this.stopWord !== undefined) throw new RunStopped(this.stopWord)
  }
}

/** A Stop that stops when any of these does, for the duration of the work. */
export async function withAnyStop<T>(
  above: readonly Stop[],
  work: (stop: Stop) => Promise<T>,
): Promise<T> {
  const stop = new Stop()
  const leave = above.map((each) => each.onStop((word) => stop.stop(word)))
  try {
    return await work(stop)
  } finally {
    for (const each of leave) each()
  }
}
