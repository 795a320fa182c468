import type { IncomingMessage } from 'node:http'

/** The parts of a request that tell where it really comes from. */
export interface Provenance {
  readonly method: string
  readonly path: string
  /** Undefined when there is none, or more than one to choose from. */
  readonly host: string | undefined
  readonly origin: string | undefined
  readonly site: string | undefined
  readonly mode: string | undefined
  readonly dest: string | undefined
}

/** Pages that a person may open by a link from anywhere: they show nothing until they ask by themselves. */
const PAGES = /^\/(console\/.*)?$/
const DEFAULT_PORT = 80

/**
 * No request carries a credential, so this is the wall against web pages: the name a browser
 * resolved must be this machine's own, and no other page may have sent it. Tools other than browsers
 * send neither Origin nor Sec-Fetch-Site.
 */
export function passesFence(request: Provenance, port: number): boolean {
  const host = request.host?.toLowerCase()
  // A whole URL as the path names a host of its own, which would then be the one that counts.
  if (host === undefined || !isOwn(host, port) || !request.path.startsWith('/')) return false
  if (isVisit(request)) return true
  const { origin, site } = request
  if (origin !== undefined && origin.toLowerCase() !== `http://${host}`) return false
  return site === undefined || site === 'same-origin' || site === 'none'
}

export function provenanceOf({ method, url, headersDistinct }: IncomingMessage): Provenance {
  const all = (name: string) => headersDistinct[name]?.join()
  const hosts = headersDistinct['host'] ?? []
  return {
    method: method ?? '',
    path: url ?? '',
    host: hosts.length === 1 ? hosts[0] : undefined,
    origin: all('origin'),
    site: all('sec-fetch-site'),
    mode: all('sec-fetch-mode'),
    dest: all('sec-fetch-dest'),
  }
}

function isOwn(host: string, port: number): boolean {
  const names = ['127.0.0.1', 'localhost', '[::1]']
  return names.some(
    (name) => host === `${name}:${port}` || (port === DEFAULT_PORT && host === name),
  )
}

/** A person follows a link, or types an address, in a window of its own: not in a frame of another page. */
const isVisit = ({ method, path, mode, dest }: Provenance): boolean =>
  method === 'GET' &&
  mode === 'navigate' &&
  dest === 'document' &&
  PAGES.test(path.split('?')[0] ?? '')
