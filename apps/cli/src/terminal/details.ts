import { printable } from '@skerry/command-line'

/** Properties of one resource, one per line; an unknown value is a dash. */
export function renderDetails(rows: readonly (readonly [name: string, value: string])[]): string {
  const wide = Math.max(...rows.map(([name]) => name.length))
  return rows.map(([name, value]) => `${name.padEnd(wide)}  ${printable(value) || '-'}`).join('\n')
}
