import { useLayoutEffect, useState, type RefObject } from 'react'

const STEP_PX = 16

/** The width of an element in pixels, rounded down to steps, so that not every change renders. */
export function useWidth(element: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(Number.POSITIVE_INFINITY)
  useLayoutEffect(() => {
    if (!element.current) return undefined
    const observer = new ResizeObserver(([entry]) => {
      if (entry) setWidth(Math.floor(entry.contentRect.width / STEP_PX) * STEP_PX)
    })
    observer.observe(element.current)
    return () => observer.disconnect()
  }, [element])
  return width
}
