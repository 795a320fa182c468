export interface FailedItem<T> {
  readonly item: T
  readonly error: Error
}

/** Runs `act` for every item, at most `atOnce` at a time; returns the items that failed. */
export async function runForEach<T>(
  items: readonly T[],
  atOnce: number,
  act: (item: T) => Promise<void>,
): Promise<FailedItem<T>[]> {
  const failures: FailedItem<T>[] = []
  const queue = [...items]
  const work = async (): Promise<void> => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) {
      try {
        await act(item)
      } catch (error) {
        failures.push({ item, error: error instanceof Error ? error : new Error(String(error)) })
      }
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return failures
}
