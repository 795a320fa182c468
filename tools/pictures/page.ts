// A terminal screen as an HTML page that a browser can render.
import { readScreen, type Cell } from './screen.ts'

const COLOURS: Readonly<Record<number, string>> = {
  1: 'font-weight: bold; color: #f5f7fa',
  2: 'color: #7d8899',
  31: 'color: #ff7b72',
  32: 'color: #6fd58a',
  33: 'color: #f0c674',
  36: 'color: #6cc7e0',
}
const LETTER = { size: 15, width: 9.03, line: 23 }
const PADDING = { side: 26, top: 20 }
const BAR = 38

export interface Page {
  readonly html: string
  readonly width: number
  readonly height: number
}

/** Commands with their output, below a window title bar. */
export function terminalPage(
  title: string,
  commands: readonly (readonly [string, string])[],
): Page {
  const lines = commands.flatMap(([command, written], at) => [
    ...(at > 0 ? [''] : []),
    `<span style="color: #6cc7e0">$</span> ${escape(command)}`,
    ...readScreen(written).map(drawLine),
  ])
  const letters = Math.max(
    ...commands.flatMap(([command, written]) => [
      command.length + 2,
      ...readScreen(written).map((line) => line.length),
    ]),
  )
  const html = `<!doctype html><meta charset="utf-8"><style>
    body { margin: 0; background: #161b22; color: #c9d1d9; }
    header { height: ${BAR}px; background: #21262d; display: flex; align-items: center; padding: 0 16px;
      font: 13px 'DejaVu Sans', sans-serif; color: #8b949e; gap: 8px; }
    i { width: 12px; height: 12px; border-radius: 6px; }
    pre { margin: 0; padding: ${PADDING.top}px ${PADDING.side}px;
      font: ${LETTER.size}px/${LETTER.line}px 'DejaVu Sans Mono', monospace; }
    </style><header><i style="background:#ff5f57"></i><i style="background:#febc2e"></i>
    <i style="background:#28c840"></i><span style="margin-left: 8px">${escape(title)}</span></header>
    <pre>${lines.join('\n')}</pre>`
  return {
    html,
    width: Math.ceil(letters * LETTER.width) + 2 * PADDING.side,
    height: BAR + lines.length * LETTER.line + 2 * PADDING.top,
  }
}

function drawLine(line: readonly Cell[]): string {
  const style = (cell: Cell) => cell.marks.map((each) => COLOURS[each] ?? '').join('; ')
  return line
    .map((cell) =>
      cell.marks.length === 0
        ? escape(cell.letter)
        : `<span style="${style(cell)}">${escape(cell.letter)}</span>`,
    )
    .join('')
}

const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
