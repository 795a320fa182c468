/**
 * Repeats the work at this interval until the signal is aborted. A run that takes longer is not overlapped: the next one begins at
 * the first interval after its end. Does not keep the process alive.
 */
export function every(
  ms: number,
  signal: AbortSignal,
  work: () => Promise<unknown>,
  failed: (error: unknown) => void,
): void {
  if (signal.aborted) return
  let working = false
  const timer = setInterval(() => {
    if (working) return
    working = true
    work()
      .catch(failed)
      .finally(() => (working = false))
  }, ms).unref()
  signal.addEventListener('abort', () => clearInterval(timer), { once: true })
}
