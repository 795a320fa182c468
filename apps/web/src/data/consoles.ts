// The docked consoles; they stay open while pages change.
import { closeTab, CONSOLES_MAX, noConsoles, openTab } from '../model/console-tabs.ts'
import { notify } from './notifications.ts'
import { createStore } from './store.ts'

export const consoles = createStore(noConsoles)

export function openConsole(vm: string): void {
  const next = openTab(consoles.get(), vm)
  if (next) return consoles.set(next)
  notify({
    tone: 'error',
    title: 'The console was not opened',
    description: `${CONSOLES_MAX} consoles are open. Close one of them first.`,
  })
}

export const selectConsole = (vm: string): void =>
  consoles.set({ ids: consoles.get().ids, current: vm })

export const closeConsole = (vm: string): void => consoles.set(closeTab(consoles.get(), vm))
