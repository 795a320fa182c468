import { cloudSource } from './cloud-source.ts'
import type { DataSource } from './data-source.ts'

let current: DataSource = cloudSource

/** main.tsx calls it before the first paint, on a machine. */
export const provideSource = (next: DataSource): void => {
  current = next
}

export const source = (): DataSource => current
