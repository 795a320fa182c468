// Runs in a page: words of another language, and text that a reader cannot read.
const { probe } = window as unknown as {
  readonly probe: { readonly data: ReadonlySet<string> }
}
const longer = new WeakMap<Node, string | null>()

/** Makes every word of the app 40 % longer. Data of the cloud, code and numbers stay as they are. */
function lengthenWords(): void {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const text = node.nodeValue?.trim() ?? ''
    const isCode = node.parentElement?.closest('code, pre, kbd, script, style, textarea') !== null
    if (
      longer.get(node) === node.nodeValue ||
      isCode ||
      probe.data.has(text) ||
      !/\p{L}{2}/u.test(text)
    )
      continue
    node.nodeValue = (node.nodeValue ?? '').replaceAll(/\p{L}{2,}/gu, (word) => {
      const extra = Math.max(1, Math.round(word.length * 0.4))
      return word + word.slice(-1).repeat(extra)
    })
    longer.set(node, node.nodeValue)
  }
}

/** Text that is cut off or covered by other text, and controls that cannot be reached. */
function findUnreadable(): string[] {
  const found = new Set<string>()
  const isShown = (element: Element): boolean =>
    element.checkVisibility({ visibilityProperty: true, opacityProperty: true }) &&
    element.closest('.visually-hidden, [inert]') === null
  /** A clip-path hides it from the eye only: it is for screen readers. */
  const isClipped = (element: Element | null): boolean =>
    element !== null &&
    (getComputedStyle(element).clipPath !== 'none' || isClipped(element.parentElement))
  const explains = (element: Element): boolean => {
    const titled = element.closest('[title]')
    return titled !== null && titled.getAttribute('title') !== ''
  }
  const name = (element: Element, text: string): string =>
    `${element.localName}.${element.getAttribute('class')?.split(' ')[0] ?? ''} "${text.slice(0, 60)}"`

  interface ShownText {
    readonly element: Element
    readonly text: string
    readonly boxes: readonly DOMRect[]
  }
  /** What of a box an element leaves visible; scrolling brings the rest back. */
  const look = ({ element, text, boxes }: ShownText): DOMRect[] => {
    let visible = [...boxes]
    for (let at: Element | null = element; at; at = at.parentElement) {
      const { overflowX, overflowY, display, contain } = getComputedStyle(at)
      if (display === 'inline' || display === 'contents') continue
      const cutsX = overflowX !== 'visible' || /paint|strict|content/.test(contain)
      if (!cutsX && overflowY === 'visible') continue
      const box = at.getBoundingClientRect()
      const scrolls = /auto|scroll/.test(overflowX) && at.scrollWidth > at.clientWidth
      const isCut = visible.some(
        ({ left, right }) => left < box.left - 1.5 || right > box.right + 1.5,
      )
      if (cutsX && isCut && !scrolls && !explains(element)) {
        found.add(`cut off: ${name(element, text)}`)
        return []
      }
      visible = visible
        .map((each) => {
          const [left, top] = [Math.max(each.left, box.left), Math.max(each.top, box.top)]
          const right = Math.min(each.right, box.right)
          const bottom = Math.min(each.bottom, box.bottom)
          return new DOMRect(left, top, right - left, bottom - top)
        })
        .filter(({ width, height }) => width > 2 && height > 2)
      if (visible.length === 0 || getComputedStyle(at).position === 'fixed') return visible
    }
    return visible
  }

  const layer = (element: Element): Element | null => {
    const raised = ['fixed', 'sticky', 'absolute']
    for (let at: Element | null = element; at; at = at.parentElement)
      if (raised.includes(getComputedStyle(at).position)) return at
    return null
  }
  const texts: { element: Element; text: string; box: DOMRect; layer: Element | null }[] = []
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement
    const text = node.nodeValue?.trim() ?? ''
    if (!element || text === '' || !isShown(element) || isClipped(element)) continue
    const range = document.createRange()
    range.selectNodeContents(node)
    const boxes = [...range.getClientRects()].filter(({ width, height }) => width > 1 && height > 1)
    for (const box of look({ element, text, boxes }))
      texts.push({ element, text, box, layer: layer(element) })
  }
  texts.sort((a, b) => a.box.top - b.box.top)
  for (const [at, one] of texts.entries()) {
    for (const other of texts.slice(at + 1)) {
      if (other.box.top > one.box.bottom) break
      const across =
        Math.min(one.box.right, other.box.right) - Math.max(one.box.left, other.box.left)
      const down = Math.min(one.box.bottom, other.box.bottom) - other.box.top
      if (across > 2 && down > 5 && one.layer === other.layer && one.element !== other.element)
        found.add(`${name(one.element, one.text)} covers ${name(other.element, other.text)}`)
    }
  }
  for (const control of document.querySelectorAll('a[href], button, input, select, textarea')) {
    if (!isShown(control) || isClipped(control)) continue
    const { left, right, width } = control.getBoundingClientRect()
    let scroller = control.parentElement
    while (
      scroller &&
      !(
        /auto|scroll/.test(getComputedStyle(scroller).overflowX) &&
        scroller.scrollWidth > scroller.clientWidth
      )
    )
      scroller = scroller.parentElement
    const isOutside = left < -1.5 || right > innerWidth + 1.5
    if (width > 0 && isOutside && !scroller)
      found.add(`outside: ${name(control, control.textContent || control.ariaLabel || '')}`)
  }
  const { scrollWidth } = document.documentElement
  if (scrollWidth > innerWidth + 1) found.add(`the page is ${scrollWidth} pixels wide`)
  return [...found]
}

Object.assign(window, { readability: { lengthenWords, findUnreadable } })
