// The consoles that are docked beside the page.

export interface ConsoleTabs {
  /** VMs, in the order in which they were opened. */
  readonly ids: readonly string[]
  /** The one that is shown; undefined: none is open. */
  readonly current: string | undefined
}

/** Each tab has a connection to its screen; a user may have 20 in all windows together. */
export const CONSOLES_MAX = 4

export const noConsoles: ConsoleTabs = { ids: [], current: undefined }

/** Opens a console, or shows the one that is open. Returns undefined if too many are open. */
export function openTab({ ids }: ConsoleTabs, id: string): ConsoleTabs | undefined {
  if (ids.includes(id)) return { ids, current: id }
  return ids.length < CONSOLES_MAX ? { ids: [...ids, id], current: id } : undefined
}

/** Closes a console; if it was shown, its neighbour is shown. */
export function closeTab(tabs: ConsoleTabs, id: string): ConsoleTabs {
  const at = tabs.ids.indexOf(id)
  const ids = tabs.ids.filter((each) => each !== id)
  const neighbour = ids[at] ?? ids[at - 1]
  return { ids, current: tabs.current === id ? neighbour : tabs.current }
}
