// The arithmetic of a list of any length, without a browser.

/** Firefox draws elements of at most 17.8 million pixels, Chromium of 33.5 million. */
export const HEIGHT_MAX = 12_000_000
/** Rows that are drawn above and below the visible ones. */
const OVERSCAN = 8

export interface Scale {
  /** Height of the scrolled element. */
  readonly height: number
  readonly viewHeight: number
  readonly total: number
  readonly rowsInView: number
}

export const scrollHeightOf = (
  total: number,
  rowHeight: number,
): { readonly height: number; readonly isScaled: boolean } => {
  const natural = total * rowHeight
  return { height: Math.min(natural, HEIGHT_MAX), isScaled: natural > HEIGHT_MAX }
}

/** The row at the top for a position of the scrollbar. */
export const scaledOffset = (
  scrollTop: number,
  { height, viewHeight, total, rowsInView }: Scale,
): number => (scrollTop / Math.max(1, height - viewHeight)) * Math.max(0, total - rowsInView)

/** The position of the scrollbar for a row at the top. */
export const scaledScrollTop = (
  offset: number,
  { height, viewHeight, total, rowsInView }: Scale,
): number => (offset / Math.max(1, total - rowsInView)) * (height - viewHeight)

export const visibleRange = (
  top: number,
  { total, rowsInView }: Pick<Scale, 'total' | 'rowsInView'>,
): { readonly first: number; readonly last: number } => ({
  first: Math.max(0, Math.floor(top) - OVERSCAN),
  last: Math.min(total - 1, Math.ceil(top + rowsInView) + OVERSCAN),
})
