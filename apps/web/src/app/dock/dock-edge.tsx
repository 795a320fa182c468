import type { KeyboardEvent, PointerEvent } from 'react'

import { setDockLayout } from '../../data/dock-layout.ts'
import {
  dragged,
  movedByKey,
  PERCENT_MAX,
  PERCENT_MIN,
  type DockLayout,
} from '../../model/dock-layout.ts'
import { consoleWords } from '../../text/console.ts'

import style from './dock.module.css'

const isRightToLeft = (): boolean => getComputedStyle(document.documentElement).direction === 'rtl'

/** The edge between page and dock: it is moved with the pointer or with the arrow keys. */
export function DockEdge({ layout }: { readonly layout: DockLayout }) {
  const onPointerMove = (event: PointerEvent<HTMLDivElement>): void => {
    if (!event.currentTarget.hasPointerCapture(event.pointerId)) return
    const { innerWidth: width, innerHeight: height } = window
    const point = { x: event.clientX, y: event.clientY }
    setDockLayout(dragged(layout, point, { width, height, isRightToLeft: isRightToLeft() }))
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const next = movedByKey(layout, event.key, isRightToLeft())
    if (!next) return
    event.preventDefault()
    setDockLayout(next)
  }
  return (
    <div
      className={style['edge']}
      role="separator"
      tabIndex={0}
      aria-label={consoleWords.resize}
      aria-orientation={layout.side === 'end' ? 'vertical' : 'horizontal'}
      aria-valuenow={layout.percent}
      aria-valuemin={PERCENT_MIN}
      aria-valuemax={PERCENT_MAX}
      aria-valuetext={`${layout.percent} %`}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={onPointerMove}
      onKeyDown={onKeyDown}
    />
  )
}
