import { element, type Child, type Element } from '@skerry/xml'

/** Elements that have no end and nothing inside. */
const empty = new Set(['meta', 'link', 'input', 'img', 'br', 'hr'])

const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')

/** As browsers read HTML. Nothing in it is glued: what people wrote stands in texts and values. */
function render({ name, attributes, children }: Element): string {
  const said = Object.entries(attributes).map(([key, value]) => ` ${key}="${escape(value)}"`)
  const start = `<${name}${said.join('')}>`
  if (empty.has(name)) return start
  const inside = children.map((each) => (typeof each === 'string' ? escape(each) : render(each)))
  return `${start}${inside.join('')}</${name}>`
}

export interface Page {
  readonly title: string
  readonly user: string | undefined
  /** Looked at again by itself, also without script. */
  readonly live?: boolean
}

/** Nothing from elsewhere, nothing inline, nobody's frame. */
export const pageHeaders = {
  'content-security-policy':
    "default-src 'none'; img-src 'self'; style-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  // Without any, a browser would not say of our own forms that they are ours.
  'referrer-policy': 'same-origin',
  'cache-control': 'no-store',
} as const

export const STYLE = '/pages/style.css'
export const SCRIPT = '/pages/live.js'
const LOOK_AGAIN_SECONDS = 3

export function renderPage({ title, user, live = false }: Page, ...main: readonly Child[]): string {
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

/** Where this page is, from the list on; each place leads back to itself. */
export const crumbs = (...places: readonly Readonly<{ name: string; href: string }>[]): Element =>
  element(
    'nav',
    { class: 'crumbs', 'aria-label': 'Where this is' },
    ...places.map(({ name, href }) => element('a', { href }, name)),
  )

/** A wide drawing is moved by itself, by keyboard too: smaller letters would be no use. */
export const drawing = (src: string, name: string): Element =>
  element(
    'div',
    { class: 'drawn', role: 'region', 'aria-label': 'Drawing', tabindex: 0 },
    element('img', { class: 'drawing', src, alt: `Drawing of ${name}` }),
  )

/** A time for people, which machines can read too. */
export const when = (at: Date | null): Element | undefined => {
  if (at === null) return undefined
  const iso = at.toISOString()
  return element('time', { datetime: iso }, `${iso.slice(0, 19).replace('T', ' ')} UTC`)
}
