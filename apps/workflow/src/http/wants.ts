import { Fault } from '@skerry/fault'

/** The formats of a response. */
export const media = {
  xml: 'application/xml',
  json: 'application/json',
  zip: 'application/zip',
  svg: 'image/svg+xml',
  yaml: 'application/yaml',
  html: 'text/html',
  events: 'text/event-stream',
} as const
export type ResponseFormat = keyof typeof media

/** Aliases of these media types. */
const alsoCalled: Readonly<Record<string, ResponseFormat>> = {
  'text/xml': 'xml',
  'application/*+xml': 'xml',
  'application/x-zip-compressed': 'zip',
  'application/octet-stream': 'zip',
}

interface Range {
  readonly type: string
  readonly q: number
}

/**
 * Chooses the offer with the highest q value; the first of several equal ones. Without a header, the first offer. Undefined: none is
 * acceptable.
 */
export function choose<F extends ResponseFormat>(
  accept: string | undefined,
  offers: readonly F[],
): F | undefined {
  if (accept === undefined || accept.trim() === '') return offers[0]
  const ranges = accept.split(',').map(readRange)
  let best: { readonly offer: F; readonly q: number } | undefined
  for (const offer of offers) {
    const q = weightOf(ranges, offer)
    if (q > (best?.q ?? 0)) best = { offer, q }
  }
  return best?.offer
}

export function wants<F extends ResponseFormat>(
  accept: string | undefined,
  offers: readonly F[],
): F {
  const found = choose(accept, offers)
  if (found !== undefined) return found
  const names = offers.map((each) => media[each]).join(' or ')
  throw new Fault('not-acceptable', `only ${names} is available, and Accept allows none of them`, {
    hint: `send Accept: ${media[offers[0] ?? 'xml']}`,
  })
}

/** The format of an error: the requested one if it can hold an error, else XML. HTML only outside the API. */
export const wantsOfFault = (accept: string | undefined, url = '/api'): 'xml' | 'json' | 'html' => {
  const offers = ['xml', 'json', 'html'] as const
  return choose(accept, url.startsWith('/api') ? offers.slice(0, 2) : offers) ?? 'xml'
}

function readRange(text: string): Range {
  const [type = '', ...parameters] = text.split(';').map((each) => each.trim().toLowerCase())
  const q = parameters.find((each) => each.startsWith('q='))?.slice(2)
  const weight = q === undefined ? 1 : Number(q)
  return { type, q: weight >= 0 && weight <= 1 ? weight : 0 }
}

/** The most specific range decides (RFC 9110). */
function weightOf(ranges: readonly Range[], offer: ResponseFormat): number {
  const type = media[offer]
  const [main = ''] = type.split('/')
  const exact = ranges.find((each) => each.type === type || alsoCalled[each.type] === offer)
  const found =
    exact ??
    ranges.find((each) => each.type === `${main}/*`) ??
    ranges.find((each) => each.type === '*/*')
  return found?.q ?? 0
}
