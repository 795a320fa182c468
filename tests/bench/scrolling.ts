// What a frame costs while a list scrolls by two rows a frame, and what the same rows cost a page without scripts of ours.
import type { Page } from 'playwright-core'

const FRAMES = 300
/** A trace is much larger than the times of frames. */
const TRACED_FRAMES = 60
/** Two rows. */
const STEP_PX = 68

export interface Scrolling {
  /** Milliseconds between two frames. */
  readonly frames: readonly number[]
  /** Milliseconds of processor time for a frame, by what they are spent on. */
  readonly costs: Readonly<Record<Cost, number>>
}

export type Cost = 'script' | 'style and layout' | 'paint' | 'raster' | 'other'

/** Events of a trace that do one thing; what they contain is counted where it belongs. */
const costOf: Readonly<Record<string, Cost>> = {
  FunctionCall: 'script',
  EventDispatch: 'script',
  TimerFire: 'script',
  FireAnimationFrame: 'script',
  RunMicrotasks: 'script',
  'v8.callFunction': 'script',
  MinorGC: 'script',
  MajorGC: 'script',
  UpdateLayoutTree: 'style and layout',
  Layout: 'style and layout',
  PrePaint: 'paint',
  Paint: 'paint',
  Layerize: 'paint',
  Commit: 'paint',
  RasterTask: 'raster',
}

interface TraceEvent {
  readonly name: string
  readonly ph: string
  readonly pid: number
  readonly tid: number
  readonly ts: number
  readonly dur?: number
  readonly tdur?: number
}

/** Turns a wheel once a frame, from the top. A page that does not answer the wheel itself is scrolled, as the browser does. */
const scroll = (page: Page, count: number): Promise<number[]> =>
  page.evaluate<number[]>(`new Promise((resolve) => {
    const grid = document.querySelector('[role=grid]')
    grid.scrollTop = 0
    const times = []
    let last = performance.now()
    const next = (now) => {
      times.push(now - last)
      last = now
      const isLeft = grid.dispatchEvent(new WheelEvent('wheel', { deltaY: ${STEP_PX}, cancelable: true }))
      if (isLeft) grid.scrollTop += ${STEP_PX}
      if (times.length < ${count}) requestAnimationFrame(next)
      else resolve(times.slice(5))
    }
    requestAnimationFrame(next)
  })`)

/** Once for the frames, and once more for what they cost: a trace makes frames longer. */
export async function timeScrolling(page: Page): Promise<Scrolling> {
  const frames = await scroll(page, FRAMES)
  const browser = page.context().browser()
  if (!browser) throw new Error('the page has no browser of its own')
  await browser.startTracing(page, {
    categories: ['toplevel', 'devtools.timeline', 'v8', 'disabled-by-default-devtools.timeline'],
  })
  await scroll(page, TRACED_FRAMES)
  const trace = JSON.parse((await browser.stopTracing()).toString()) as {
    readonly traceEvents: readonly TraceEvent[]
  }
  return { frames, costs: costsOf(trace.traceEvents) }
}

/** Processor time of all threads of the browser, by cost, without what an event contains. */
export function costsOf(events: readonly TraceEvent[]): Record<Cost, number> {
  const sums = { script: 0, 'style and layout': 0, paint: 0, raster: 0, other: 0 }
  const threads = Map.groupBy(
    events.filter(({ ph }) => ph === 'X'),
    ({ pid, tid }) => `${pid} ${tid}`,
  )
  for (const thread of threads.values()) {
    const open: { readonly until: number; readonly cost: Cost }[] = []
    for (const { name, ts, dur = 0, tdur = dur } of thread.toSorted(
      (a, b) => a.ts - b.ts || (b.dur ?? 0) - (a.dur ?? 0),
    )) {
      while (open.length > 0 && (open.at(-1)?.until ?? 0) <= ts) open.pop()
      const around = open.at(-1)?.cost
      const cost = costOf[name] ?? around ?? 'other'
      if (around !== undefined) sums[around] -= tdur / 1000 / TRACED_FRAMES
      sums[cost] += tdur / 1000 / TRACED_FRAMES
      open.push({ until: ts + dur, cost })
    }
  }
  return sums
}

/** A page without scripts, which has the rows that are shown, with their styles, as often as are scrolled past. */
export async function openBare(page: Page): Promise<Page> {
  const rows = 2 * FRAMES + 100
  const html = await page.evaluate<string>(`(() => {
    const rules = [...document.styleSheets].flatMap(({ cssRules }) => [...cssRules])
    const grid = document.querySelector('[role=grid]')
    const { width, height } = grid.getBoundingClientRect()
    const [first, ...others] = grid.querySelectorAll('[role=rowgroup] [role=row]')
    const row = others.at(-1) ?? first
    const list = grid.cloneNode()
    list.style.cssText += ';inline-size:' + width + 'px;block-size:' + height + 'px'
    const body = document.createElement('div')
    body.style.cssText = 'position:relative;block-size:' + ${rows} * row.offsetHeight + 'px'
    const shown = [first, ...others]
    for (let at = 0; at < ${rows}; at++) {
      const copy = shown[at % shown.length].cloneNode(true)
      copy.style.transform = 'translateY(' + at * row.offsetHeight + 'px)'
      body.append(copy)
    }
    list.append(body)
    return '<!doctype html><style>' + rules.map(({ cssText }) => cssText).join('') + '</style>' + list.outerHTML
  })()`)
  const bare = await page.context().newPage()
  const size = page.viewportSize()
  if (size) await bare.setViewportSize(size)
  await bare.goto('about:blank')
  await bare.setContent(html)
  return bare
}
