import { useSyncExternalStore } from 'react'

const narrow = matchMedia('(width < 48rem)')

const subscribe = (listener: () => void): (() => void) => {
  narrow.addEventListener('change', listener)
  return () => narrow.removeEventListener('change', listener)
}

/** Whether the page is as narrow as on a phone. */
export const useIsNarrow = (): boolean => useSyncExternalStore(subscribe, () => narrow.matches)
