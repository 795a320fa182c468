import type { IncomingHttpHeaders } from 'node:http'

interface BrowserRequest {
  readonly method?: string | undefined
  readonly headers: IncomingHttpHeaders
}

const READS: ReadonlySet<string | undefined> = new Set(['GET', 'HEAD'])

/**
 * Whether a page of this origin sends the request. Browsers set both headers themselves, and no page can change them. A link, a form or
 * a script of another site, or of another port, has another value of Sec-Fetch-Site; a request that can change something must also name
 * our origin.
 */
export const isFromPage = ({ method, headers }: BrowserRequest, origin: string): boolean =>
  headers['sec-fetch-site'] === 'same-origin' && (READS.has(method) || headers.origin === origin)

/** The value of a cookie; undefined if there is none, or more than one of this name. */
export function cookieIn(header: string | undefined, name: string): string | undefined {
  const values = (header ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1))
  return values.length === 1 ? values[0] : undefined
}
