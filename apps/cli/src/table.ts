/** A column: its head, and what stands in it for a row. */
export interface Column<Row> {
  readonly head: string
  readonly align?: 'left' | 'right'
  readonly cell: (row: Row) => string
  /** What a terminal with colours shows it in. */
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

/** Aligned columns with a head; the last one is not filled up, so that no line ends in blanks. */
export function renderTable<Row>(
  columns: readonly Column<Row>[],
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

/** Only the text, not the blanks beside it. */
function painted<Row>(text: string, column: Column<Row> | undefined, row: Row | undefined): string {
  const name = row === undefined ? undefined : column?.colour?.(row)
  if (name === undefined) return text
  const [on, off] = COLOURS[name]
  return text.replace(/\S(?:.*\S)?/, (words) => `${on}${words}${off}`)
}

/** What the daemon knows may hold anything that a terminal would obey. */
export const printable = (text: string): string =>
  // oxlint-disable-next-line no-control-regex
  text.replace(/[\u0000-\u001F\u007F-\u009F]/g, '\uFFFD')

function pad(text: string, to: number, align: 'left' | 'right'): string {
  const blank = ' '.repeat(Math.max(0, to - width(text)))
  return align === 'left' ? text + blank : blank + text
}

const segmenter = new Intl.Segmenter()
// Characters of East Asian scripts and pictures take two columns of a terminal.
const WIDE =
  /[\u1100-\u115F\u2E80-\u303E\u3041-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6]|\p{Emoji_Presentation}/u

/** How many columns of a terminal a text takes. */
export function width(text: string): number {
  let columns = 0
  for (const { segment } of segmenter.segment(text)) columns += WIDE.test(segment) ? 2 : 1
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
