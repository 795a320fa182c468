/** A column: its heading, and the cell of a row. */
export interface TableColumn<Row> {
  readonly head: string
  readonly align?: 'left' | 'right'
  readonly cell: (row: Row) => string
  /** Colour on a terminal. */
  readonly colour?: (row: Row) => keyof typeof COLOURS | undefined
}

const GAP = '  '
const BOLD = ['\u001B[1m', '\u001B[22m'] as const
const COLOURS = {
  red: ['\u001B[31m', '\u001B[39m'],
  green: ['\u001B[32m', '\u001B[39m'],
  yellow: ['\u001B[33m', '\u001B[39m'],
  blue: ['\u001B[36m', '\u001B[39m'],
  faint: ['\u001B[2m', '\u001B[22m'],
} as const

/** Aligned columns with a heading, without trailing blanks. */
export function renderTable<Row>(
  columns: readonly TableColumn<Row>[],
  rows: readonly Row[],
  colours = false,
): string {
  const cells = rows.map((row) => columns.map(({ cell }) => printable(cell(row)) || '-'))
  const heads = columns.map(({ head }) => head)
  const widths = heads.map((head, at) =>
    Math.max(width(head), ...cells.map((line) => width(line[at] ?? ''))),
  )
  const padded = (texts: readonly string[]) =>
    texts.map((text, at) => pad(text, widths[at] ?? 0, columns[at]?.align ?? 'left'))
  const head = padded(heads).join(GAP).trimEnd()
  const lines = cells.map((texts, row) =>
    padded(texts)
      .map((text, at) => (colours ? painted(text, columns[at], rows[row]) : text))
      .join(GAP)
      .trimEnd(),
  )
  return [colours ? `${BOLD[0]}${head}${BOLD[1]}` : head, ...lines].join('\n')
}

/** Colours only the text, not the padding. */
function painted<Row>(
  text: string,
  column: TableColumn<Row> | undefined,
  row: Row | undefined,
): string {
  const name = row === undefined ? undefined : column?.colour?.(row)
  if (name === undefined) return text
  const [on, off] = COLOURS[name]
  return text.replace(/\S(?:.*\S)?/, (words) => `${on}${words}${off}`)
}

/** Removes control characters: text from a server could contain terminal escape sequences. */
export const printable = (text: string): string =>
  // oxlint-disable-next-line no-control-regex
  text.replace(/[\u0000-\u001F\u007F-\u009F]/g, '\uFFFD')

function pad(text: string, to: number, align: 'left' | 'right'): string {
  const blank = ' '.repeat(Math.max(0, to - width(text)))
  return align === 'left' ? text + blank : blank + text
}

const PLAIN = /^[\x20-\x7E]*$/
// East Asian characters and emoji take two terminal columns.
const WIDE =
  /[\u1100-\u115F\u2E80-\u303E\u3041-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6]|\p{Emoji_Presentation}/u

/** Width of a text in terminal columns. */
export function width(text: string): number {
  if (PLAIN.test(text)) return text.length
  let columns = 0
  for (const { segment } of new Intl.Segmenter().segment(text))
    columns += WIDE.test(segment) ? 2 : 1
  return columns
}

const UNITS = ['MiB', 'GiB', 'TiB'] as const

/** 512 is `512 MiB`, 1536 is `1.5 GiB`. */
export function mebibytes(count: number | undefined): string {
  if (count === undefined) return ''
  let value = count
  let unit = 0
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024
    unit += 1
  }
  return `${Number(value.toFixed(1))} ${UNITS[unit]}`
}
