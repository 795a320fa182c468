/** Why something under way is to stop. */
export type StopWord =
  /** Somebody asked the run to end. */
  | 'canceled'
  /** Another branch won, or failed. */
  | 'lost'
  | 'too late'
  /** The run goes on from the same place under a new history. */
  | 'leaving'

/** What is thrown where a run stops. No `catch` of a definition sees it. */
export class Stopped extends Error {
  override readonly name = 'Stopped'
  readonly word: StopWord

  constructor(word: StopWord) {
    super(word)
    this.word = word
  }
}

/** Tells everything below it to stop, once. Temporal has its own, but the interpreter does not know of Temporal. */
export class Stop {
  private said: StopWord | undefined
  private readonly told = new Set<(word: StopWord) => void>()

  get word(): StopWord | undefined {
    return this.said
  }

  stop(word: StopWord): void {
    if (this.said !== undefined) return
    this.said = word
    for (const tell of this.told) tell(word)
    this.told.clear()
  }

  /** Answers how to be told no more. */
  onStop(tell: (word: StopWord) => void): () => void {
    if (this.said !== undefined) {
      tell(this.said)
      return () => undefined
    }
    this.told.add(tell)
    return () => this.told.delete(tell)
  }

  check(): void {
    if (this.said !== undefined) throw new Stopped(this.said)
  }
}

/** One that stops when any of these does, for as long as the work lasts. */
export async function below<T>(
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
