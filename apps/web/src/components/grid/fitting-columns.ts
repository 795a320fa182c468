import type { GridColumn } from './grid-column.ts'

const PX_PER_REM = 16

/** The least width of a column, in rem: the first length of its `width`, such as `minmax(7rem, 1fr)`. */
const leastRem = ({ width }: Pick<GridColumn<unknown>, 'width'>): number =>
  Number(/([\d.]+)rem/.exec(width)?.[1] ?? 0)

/** The columns that fit into a list of this width; columns are left out in the order of their keys in `droppable`. */
export function fittingColumns<T extends Pick<GridColumn<unknown>, 'key' | 'width'>>(
  columns: readonly T[],
  droppable: readonly string[],
  px: number,
): T[] {
  let fitting = [...columns]
  for (const key of droppable) {
    const rem = fitting.reduce((sum, column) => sum + leastRem(column), 0)
    if (rem * PX_PER_REM <= px) break
    fitting = fitting.filter((column) => column.key !== key)
  }
  return fitting
}
