import { element, type Child, type Element } from '@skerry/xml'

/** Void elements: no end tag, no content. */
const empty = new Set(['meta', 'link', 'input', 'img', 'br', 'hr'])

const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')

/** Renders HTML. All texts and attribute values are escaped. */
function render({ name, attributes, children }: Element): string {
  const attributeTexts = Object.entries(attributes).map(
    ([key, value]) => ` ${key}="${escape(value)}"`,
  )
  const start = `<${name}${attributeTexts.join('')}>`
  if (empty.has(name)) return start
  const inside = children.map((each) => (typeof each === 'string' ? escape(each) : render(each)))
  return `${start}${inside.join('')}</${name}>`
}

export interface HtmlPage {
  readonly title: string
  readonly user: string | undefined
  /** The page refreshes itself, also without script. */
  readonly live?: boolean
}

/** No external resources, nothing inline, no framing. */
export const pageHeaders = {
  'content-security-policy':
    "default-src 'none'; img-src 'self'; style-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  // Without a referrer, a browser would not send our own origin with our own forms.
  'referrer-policy': 'same-origin',
  'cache-control': 'no-store',
} as const

export const STYLE = '/pages/style.css'
export const SCRIPT = '/pages/live.js'
const LOOK_AGAIN_SECONDS = 3

export function renderPage(
  { title, user, live = false }: HtmlPage,
  ...main: readonly Child[]
): string {
  const head = element(
    'head',
    {},
    element('meta', { charset: 'utf-8' }),
    element('meta', { name: 'viewport', content: 'width=device-width, initial-scale=1' }),
    element('title', {}, `${title} · Skerry`),
    element('link', { rel: 'stylesheet', href: STYLE }),
    live && element('script', { src: SCRIPT, type: 'module' }),
    live &&
      element(
        'noscript',
        {},
        element('meta', { 'http-equiv': 'refresh', content: LOOK_AGAIN_SECONDS }),
      ),
  )
  const header = element(
    'header',
    {},
    element('a', { href: '/', class: 'home' }, 'Skerry workflows'),
    user === undefined ? undefined : element('span', { class: 'who' }, user),
  )
  const body = element('body', {}, header, element('main', { id: 'main' }, ...main))
  return `<!doctype html>\n${render(element('html', { lang: 'en' }, head, body))}\n`
}

/** Breadcrumbs from the list to this page. */
export const breadcrumbs = (
  ...places: readonly Readonly<{ name: string; href: string }>[]
): Element =>
  element(
    'nav',
    { class: 'crumbs', 'aria-label': 'Breadcrumbs' },
    ...places.map(({ name, href }) => element('a', { href }, name)),
  )

/** A wide drawing scrolls by itself, also by keyboard; scaling it down would make the text unreadable. */
export const drawing = (src: string, name: string): Element =>
  element(
    'div',
    { class: 'drawn', role: 'region', 'aria-label': 'Drawing', tabindex: 0 },
    element('img', { class: 'drawing', src, alt: `Drawing of ${name}` }),
  )

/** A time for users, with a machine-readable attribute. */
export const timeElement = (at: Date | null): Element | undefined => {
  if (at === null) return undefined
  const iso = at.toISOString()
  return element('time', { datetime: iso }, `${iso.slice(0, 19).replace('T', ' ')} UTC`)
}
