import { useEffect } from 'react'

import { createStore } from '../data/store.ts'

export interface Crumb {
  readonly text: string
  /** undefined: the page itself. */
  readonly to?: string
  /** Of a list: how many there are. */
  readonly total?: number | undefined
}

export const breadcrumbs = createStore<readonly Crumb[]>([])

/** A page says where it is; the top bar and the title of the window show it. */
export function usePageTitle(...crumbs: readonly Crumb[]): void {
  const key = JSON.stringify(crumbs)
  useEffect(() => {
    const parsed = JSON.parse(key) as Crumb[]
    breadcrumbs.set(parsed)
    document.title = `${parsed.at(-1)?.text ?? ''} – Skerry`
  }, [key])
}
