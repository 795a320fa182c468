// What is open beside the page and stays open when the page changes.
import { createStore } from './store.ts'

export const isTaskListOpen = createStore(false)
export const isPaletteOpen = createStore(false)
export const isNavOpen = createStore(false)
export const areShortcutsShown = createStore(false)
/** The VM that the page is about, for the command palette. */
export const currentVm = createStore('')
