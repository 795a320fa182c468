import { formatLayout, parseLayout, type DockLayout } from '../model/dock-layout.ts'
import { createStore } from './store.ts'

const KEY = 'skerry.dock'

/** Remembered by the browser. */
export const dockLayout = createStore(parseLayout(localStorage.getItem(KEY)))

export function setDockLayout(next: DockLayout): void {
  dockLayout.set(next)
  localStorage.setItem(KEY, formatLayout(next))
}
