/** How a document is written. The document is the same. */
export type DocumentFormat = 'xml' | 'json'

export interface Accepted {
  readonly format: DocumentFormat
  /** As the header has it; it may be one that does not exist. */
  readonly version: string | undefined
  /** 'application/json': the response has this type too, instead of that of its document. */
  readonly isPlainJson: boolean
}

/** The version for clients that send plain `application/json`, and so know of no versions. */
const PLAIN_JSON_VERSION = '5.1'

interface MediaRange {
  readonly type: string
  readonly version: string | undefined
  readonly q: number
}

/**
 * 'application/*+json;version=5.1' and 'application/json' ask for JSON, anything else for XML. Of several ranges the one with the highest
 * q decides, the first of equal ones.
 */
export function readAccept(accept = ''): Accepted {
  const ranges = accept.split(',').map(readRange)
  const [best] = ranges.filter(({ q }) => q > 0).toSorted((a, b) => b.q - a.q)
  const type = best?.type ?? ''
  const isPlainJson = type === 'application/json'
  // Some clients give the version at another range, or after a comma.
  const named = best?.version ?? /version=([\d.]+)/.exec(accept)?.[1]
  return {
    format: isJson(type) ? 'json' : 'xml',
    version: named ?? (isPlainJson ? PLAIN_JSON_VERSION : undefined),
    isPlainJson,
  }
}

/** Of a media type or range, such as a Content-Type. */
export const isJson = (type: string): boolean =>
  /^application\/(json|\S+\+json)$/i.test(type.split(';')[0]?.trim() ?? '')

function readRange(range: string): MediaRange {
  const [type = '', ...parameters] = range.split(';').map((part) => part.trim())
  const q = parameters.find((each) => /^q=/i.test(each))?.slice(2)
  const version = /version=([\d.]+)/.exec(parameters.join(';'))?.[1]
  const weight = q === undefined ? 1 : Number(q)
  return { type: type.toLowerCase(), version, q: weight >= 0 && weight <= 1 ? weight : 0 }
}
