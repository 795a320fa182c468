// Which rows of a long list are visible. A list that is taller than a browser can draw is scaled to one that it can.
import { useCallback, useEffect, useLayoutEffect, useRef, useState, type RefObject } from 'react'

import { scaledOffset, scaledScrollTop, scrollHeightOf, visibleRange } from './row-window.ts'

/** Rows of a scaled list keep their places over this many, so that they need not be drawn again. */
const BLOCK = 2000

export interface VisibleRows {
  readonly first: number
  readonly last: number
  /** Height of the element that gives the scrollbar its size. */
  readonly height: number
  readonly isScaled: boolean
  /** Where a row begins; in a scaled list relative to a row near by, and `shift` moves all of them. */
  readonly topOf: (index: number) => number
  readonly shift: number
  readonly viewHeight: number
  readonly reveal: (index: number) => void
}

type Scroller = RefObject<HTMLElement | null>

export function useVisibleRows(
  scroller: Scroller,
  total: number,
  rowHeight: number,
  headHeight: number,
): VisibleRows {
  /** In a scaled list: the index of the top row, with its hidden fraction. */
  const [offset, setOffset] = useState(0)
  const isOwnScroll = useRef(false)
  const view = useScrollPosition(scroller, (scrollTop) => {
    if (isOwnScroll.current) isOwnScroll.current = false
    else if (isScaled) setOffset(scaledOffset(scrollTop, scale))
  })
  const { height, isScaled } = scrollHeightOf(total, rowHeight)
  const viewHeight = Math.max(rowHeight, view.height - headHeight)
  const rowsInView = viewHeight / rowHeight
  const scale = { height, viewHeight, total, rowsInView }

  const scrollToOffset = useCallback(
    (wanted: number) => {
      const element = scroller.current
      if (!element) return
      const next = Math.max(0, Math.min(Math.max(0, total - rowsInView), wanted))
      setOffset(next)
      isOwnScroll.current = true
      element.scrollTop = scaledScrollTop(next, { height, viewHeight, total, rowsInView })
    },
    [scroller, total, rowsInView, height, viewHeight],
  )
  useWheel(scroller, isScaled, rowHeight, (rows) => scrollToOffset(offset + rows))

  const reveal = useCallback(
    (index: number) => {
      const element = scroller.current
      if (!element) return
      const now = isScaled ? offset : element.scrollTop / rowHeight
      const next = index < now ? index : index > now + rowsInView - 1 ? index - rowsInView + 1 : now
      if (next === now) return
      if (isScaled) scrollToOffset(next)
      else element.scrollTop = next * rowHeight
    },
    [scroller, isScaled, offset, rowHeight, rowsInView, scrollToOffset],
  )
  const block = isScaled ? Math.floor(offset / BLOCK) * BLOCK : 0
  return {
    ...visibleRange(isScaled ? offset : view.top / rowHeight, scale),
    height,
    isScaled,
    viewHeight,
    reveal,
    shift: (block - offset) * rowHeight,
    topOf: (index) => (index - block) * rowHeight,
  }
}

/** The scroll position and the height of the element. */
function useScrollPosition(scroller: Scroller, onScroll: (scrollTop: number) => void) {
  const [view, setView] = useState({ top: 0, height: 800 })
  const latest = useRef(onScroll)
  latest.current = onScroll
  useLayoutEffect(() => {
    const element = scroller.current
    if (!element) return undefined
    const measure = (): void => {
      const { scrollTop: top, clientHeight: height } = element
      setView((now) => (now.top === top && now.height === height ? now : { top, height }))
    }
    const onScrolled = (): void => {
      measure()
      latest.current(element.scrollTop)
    }
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    element.addEventListener('scroll', onScrolled, { passive: true })
    measure()
    return () => {
      observer.disconnect()
      element.removeEventListener('scroll', onScrolled)
    }
  }, [scroller])
  return view
}

/** In a scaled list a wheel moves by rows, not by the hundreds of rows that a pixel stands for. */
function useWheel(
  scroller: Scroller,
  isScaled: boolean,
  rowHeight: number,
  onRows: (rows: number) => void,
): void {
  const latest = useRef(onRows)
  latest.current = onRows
  useEffect(() => {
    const element = scroller.current
    if (!element || !isScaled) return undefined
    const onWheel = (event: WheelEvent): void => {
      if (event.ctrlKey || event.deltaY === 0) return
      event.preventDefault()
      const isLines = event.deltaMode === WheelEvent.DOM_DELTA_LINE
      latest.current(isLines ? event.deltaY : event.deltaY / rowHeight)
    }
    element.addEventListener('wheel', onWheel, { passive: false })
    return () => element.removeEventListener('wheel', onWheel)
  }, [scroller, isScaled, rowHeight])
}
