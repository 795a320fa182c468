// Which rows of a long list are visible. A list that is taller than a browser can draw is scaled to one that it can.
import {
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  type RefObject,
} from 'react'

import { scaledOffset, scaledScrollTop, scrollHeightOf, visibleRange } from './row-window.ts'

/** Rows of a scaled list keep their places over this many, so that they need not be drawn again. */
const BLOCK = 2000
/** The scrollbar of a scaled list follows when the list rests, or by a whole pixel: each time the browser lays the list out and paints it. */
const REST_MS = 100

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
  const { height, isScaled } = scrollHeightOf(total, rowHeight)
  /** In a scaled list: the index of the top row, with its hidden fraction. */
  const [offset, setOffset] = useState(0)
  /** The same before it is rendered, for the next turn of the wheel. */
  const latestOffset = useRef(0)
  const scrollbar = useOwnScrollbar(scroller)
  const moveTo = useCallback((next: number) => {
    latestOffset.current = next
    setOffset(next)
  }, [])
  const view = useScrollPosition(scroller, isScaled, (scrollTop) => {
    if (isScaled && scrollbar.isMovedByUser(scrollTop)) moveTo(scaledOffset(scrollTop, scale))
  })
  const viewHeight = Math.max(rowHeight, view.height - headHeight)
  const rowsInView = viewHeight / rowHeight
  const scale = { height, viewHeight, total, rowsInView }

  const scrollToOffset = useCallback(
    (wanted: number) => {
      const next = Math.max(0, Math.min(Math.max(0, total - rowsInView), wanted))
      moveTo(next)
      const top = scaledScrollTop(next, { height, viewHeight, total, rowsInView })
      scrollbar.follow(top, height / viewHeight)
    },
    [scrollbar, moveTo, total, rowsInView, height, viewHeight],
  )
  useWheel(scroller, isScaled, rowHeight, (rows) => scrollToOffset(latestOffset.current + rows))

  const reveal = useCallback(
    (index: number) => {
      const element = scroller.current
      if (!element) return
      const now = isScaled ? latestOffset.current : element.scrollTop / rowHeight
      const next = index < now ? index : index > now + rowsInView - 1 ? index - rowsInView + 1 : now
      if (next === now) return
      if (isScaled) scrollToOffset(next)
      else element.scrollTop = next * rowHeight
    },
    [scroller, isScaled, rowHeight, rowsInView, scrollToOffset],
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

/** Moves the scrollbar of a scaled list, and separates its own moves from those of the user. */
function useOwnScrollbar(scroller: Scroller) {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const ownTop = useRef<number>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  return useMemo(() => {
    const move = (top: number): void => {
      const element = scroller.current
      if (!element) return
      element.scrollTop = top
      ownTop.current = element.scrollTop
    }
    return {
      follow: (top: number, pixel: number): void => {
        clearTimeout(timer.current)
        const shown = ownTop.current ?? scroller.current?.scrollTop ?? 0
        if (Math.abs(top - shown) >= pixel) move(top)
        else timer.current = setTimeout(() => move(top), REST_MS)
      },
      isMovedByUser: (top: number): boolean => {
        if (top === ownTop.current) return false
        clearTimeout(timer.current)
        ownTop.current = undefined
        return true
      },
    }
  }, [scroller])
}

/** The scroll position and the height of the element. The position of a scaled list is its offset. */
function useScrollPosition(
  scroller: Scroller,
  isScaled: boolean,
  onScroll: (scrollTop: number) => void,
) {
  const [view, setView] = useState({ top: 0, height: 800 })
  const latest = useRef(onScroll)
  latest.current = onScroll
  useLayoutEffect(() => {
    const element = scroller.current
    if (!element) return undefined
    const measure = (): void => {
      const { scrollTop, clientHeight: height } = element
      const top = isScaled ? 0 : scrollTop
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
  }, [scroller, isScaled])
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
