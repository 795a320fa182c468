/**
 * Shares reads between concurrent callers: one read serves all callers that came before it began. A
 * caller never gets a read that began before its call, which might be out of date.
 */
export function sharedRead<T>(read: () => Promise<T>): () => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  let next: Promise<T> | undefined
  const begin = (): Promise<T> => {
    next = undefined
    const reading = read()
    last = reading.catch(() => undefined)
    return reading
  }
  return () => (next ??= last.then(begin))
}
