import { qrCode, QUIET_MODULES } from '@skerry/command-line/qr-code'
import { useMemo } from 'react'

import style from './second-factors.module.css'

/** A text as a QR code. */
export function QrImage({ text, label }: { readonly text: string; readonly label: string }) {
  const { path, size } = useMemo(() => drawingOf(text), [text])
  return (
    <svg
      className={style['qr']}
      role="img"
      aria-label={label}
      viewBox={`0 0 ${size} ${size}`}
      shapeRendering="crispEdges"
    >
      <path fill="currentColor" d={path} />
    </svg>
  )
}

/** One square for each dark module. */
function drawingOf(text: string): { readonly path: string; readonly size: number } {
  const modules = qrCode(text)
  const squares = modules.flatMap((line, row) =>
    line.flatMap((isDark, column) =>
      isDark ? [`M${column + QUIET_MODULES} ${row + QUIET_MODULES}h1v1h-1z`] : [],
    ),
  )
  return { path: squares.join(''), size: modules.length + 2 * QUIET_MODULES }
}
