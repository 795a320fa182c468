// How the page looks; before-paint.js applies it before the first paint.
import { createStore } from './store.ts'

export const themes = ['system', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]
export const densities = ['dense', 'roomy'] as const
export type Density = (typeof densities)[number]

const { dataset } = document.documentElement

export const theme = createStore<Theme>(
  themes.find((each) => each === dataset['theme']) ?? 'system',
)
export const density = createStore<Density>(
  densities.find((each) => each === dataset['density']) ?? 'dense',
)

export function setTheme(next: Theme): void {
  theme.set(next)
  if (next === 'system') delete dataset['theme']
  else dataset['theme'] = next
  localStorage.setItem('skerry.theme', next)
}

export function setDensity(next: Density): void {
  density.set(next)
  dataset['density'] = next
  localStorage.setItem('skerry.density', next)
}

/** Height of a row in pixels; the same as --row of tokens.css. */
export const rowHeightOf = (value: Density): number => (value === 'dense' ? 34 : 44)
