import { QUIET_MODULES, type QrModules } from '@skerry/command-line/qr-code'

/** Upper and lower half of a character, by whether each is drawn. */
const BLOCKS = [
  [' ', '▄'],
  ['▀', '█'],
] as const
const BLACK_ON_WHITE = '\u001B[38;5;16;48;5;231m'
const RESET = '\u001B[0m'

/**
 * A QR code in lines of half blocks, with its quiet zone. With colours it is black on white. Without them its light modules are drawn,
 * which a terminal with a dark background shows as they are; readers accept the inverse too.
 */
export function qrBlocks(modules: QrModules, colours: boolean): string {
  const last = modules.length + QUIET_MODULES
  const shade = (row: number, column: number): 0 | 1 => {
    // The number of rows is odd: below the last one there is nothing to draw.
    if (row >= last) return 0
    return (modules[row]?.[column] === true) === colours ? 1 : 0
  }
  const lines: string[] = []
  for (let row = -QUIET_MODULES; row < last; row += 2) {
    let line = ''
    for (let column = -QUIET_MODULES; column < last; column++) {
      line += BLOCKS[shade(row, column)][shade(row + 1, column)]
    }
    lines.push(colours ? `${BLACK_ON_WHITE}${line}${RESET}` : line)
  }
  return lines.join('\n')
}
