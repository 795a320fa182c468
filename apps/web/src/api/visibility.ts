// Whether someone looks at the page. An open stream keeps the session alive: one that no one has looked at for long is closed, so that
// the session can expire.

export const isHidden = (): boolean => document.visibilityState === 'hidden'

const HIDDEN_MS = 10 * 60_000

/** Calls `act` each time that the page has been hidden for 10 minutes. Returns what ends this. */
export function whenHiddenForLong(act: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  const look = (): void => {
    clearTimeout(timer)
    if (isHidden()) timer = setTimeout(act, HIDDEN_MS)
  }
  document.addEventListener('visibilitychange', look)
  look()
  return () => {
    clearTimeout(timer)
    document.removeEventListener('visibilitychange', look)
  }
}

/** Resolves when the page is visible or `signal` is aborted. */
export function untilVisible(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (isHidden() && !signal.aborted) return
      document.removeEventListener('visibilitychange', look)
      signal.removeEventListener('abort', look)
      resolve()
    }
    document.addEventListener('visibilitychange', look)
    signal.addEventListener('abort', look)
    look()
  })
}
