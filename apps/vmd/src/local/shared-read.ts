/**
 * Reads for many who ask at about the same time: one reading for all who asked before it began, and
 * never one that began before somebody asked, which might not show him what he looks for.
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
