// What is open beside the page and stays open when the page changes, and which page that is.
import { createStore } from './store.ts'

/** The path of the page that the user is on the way to, before its code is loaded and it is shown; otherwise that of this page. */
export const destination = createStore('')

export const isTaskListOpen = createStore(false)
export const isPaletteOpen = createStore(false)
/** The text in the command palette. What is typed before it has the focus, or even its code, is added to it. */
export const paletteText = createStore('')
export const isNavOpen = createStore(false)
export const areShortcutsShown = createStore(false)
/** The VM that the page is about, for the command palette. */
export const currentVm = createStore('')

export function openPalette(): void {
  if (isPaletteOpen.get()) return
  paletteText.set('')
  isPaletteOpen.set(true)
}
