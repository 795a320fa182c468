import { printable } from './table.ts'

/** What there is to know of one thing, a line each; what is not known is a dash. */
export function renderDetails(rows: readonly (readonly [name: string, value: string])[]): string {
  const wide = Math.max(...rows.map(([name]) => name.length))
  return rows.map(([name, value]) => `${name.padEnd(wide)}  ${printable(value) || '-'}`).join('\n')
}
