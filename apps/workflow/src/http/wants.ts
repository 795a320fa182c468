import { Fault } from '@skerry/fault'

/** What an answer may come as. */
export const media = {
  xml: 'application/xml',
  json: 'application/json',
  zip: 'application/zip',
  svg: 'image/svg+xml',
  yaml: 'application/yaml',
  html: 'text/html',
  events: 'text/event-stream',
} as const
export type Format = keyof typeof media

/** Other names of the same. */
const alsoCalled: Readonly<Record<string, Format>> = {
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
 * Which of these is asked for: the one that the header likes most, and the first of those that it likes alike. Without a header,
 * the first there is. Undefined: none of them.
 */
export function choose<F extends Format>(
  accept: string | undefined,
  offers: readonly F[],
): F | undefined {
  if (accept === undefined || accept.trim() === '') return offers[0]
  const ranges = accept.split(',').map(readRange)
  let best: { readonly offer: F; readonly q: number } | undefined
  for (const offer of offers) {
    const q = liked(ranges, offer)
    if (q > (best?.q ?? 0)) best = { offer, q }
  }
  return best?.offer
}

export function wants<F extends Format>(accept: string | undefined, offers: readonly F[]): F {
  const found = choose(accept, offers)
  if (found !== undefined) return found
  const told = offers.map((each) => media[each]).join(' or ')
  throw new Fault('not-acceptable', `this comes as ${told}, and Accept asks for neither`, {
    hint: `send Accept: ${media[offers[0] ?? 'xml']}`,
  })
}

/** What a refusal comes as: the asked format if it can say one, and else XML. Only beside the API people ask in person. */
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

/** The closest range decides, as RFC 9110 has it. */
function liked(ranges: readonly Range[], offer: Format): number {
  const type = media[offer]
  const [main = ''] = type.split('/')
  const exact = ranges.find((each) => each.type === type || alsoCalled[each.type] === offer)
  const found =
    exact ??
    ranges.find((each) => each.type === `${main}/*`) ??
    ranges.find((each) => each.type === '*/*')
  return found?.q ?? 0
}
