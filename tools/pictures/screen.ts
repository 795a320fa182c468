// A terminal emulator, limited to what `skerry` uses: the screen after these bytes.

export interface Cell {
  readonly letter: string
  /** The active SGR codes of ECMA-48, such as 1 for bold and 32 for green. */
  readonly marks: readonly number[]
}

// oxlint-disable-next-line no-control-regex
const ORDER = /\u001B\[([\d;?]*)([A-Za-z])|\r|\n|[^\u0000-\u001F]/gu

/** The lines of the screen, without empty ones at the end. */
export function readScreen(written: string): readonly (readonly Cell[])[] {
  const lines: Cell[][] = [[]]
  let column = 0
  let marks: readonly number[] = []
  for (const [letter, numbers = '', order] of written.matchAll(ORDER)) {
    const line = lines.at(-1) ?? []
    if (order === 'm') marks = mark(marks, numbers.split(';').map(Number))
    else if (order === 'K') line.length = Math.min(line.length, column)
    else if (order !== undefined) continue
    else if (letter === '\r') column = 0
    else if (letter === '\n') {
      lines.push([])
      column = 0
    } else {
      line[column] = { letter, marks }
      column += 1
    }
  }
  while (lines.at(-1)?.length === 0) lines.pop()
  return lines
}

/** What a code resets: 22 resets bold and faint, 39 every colour, 0 all. */
function mark(marks: readonly number[], numbers: readonly number[]): readonly number[] {
  let now = marks
  for (const number of numbers) {
    if (number === 0) now = []
    else if (number === 22) now = now.filter((each) => each > 2)
    else if (number === 39) now = now.filter((each) => each < 30)
    else now = [...now.filter((each) => each < 30 || number < 30), number]
  }
  return now
}
