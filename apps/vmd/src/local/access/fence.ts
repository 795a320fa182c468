import type { IncomingMessage } from 'node:http'

/** The parts of a request that show its real origin. */
export interface Provenance {
  readonly method: string
  readonly path: string
  /** Undefined if there is none, or more than one. */
  readonly host: string | undefined
  readonly origin: string | undefined
  readonly site: string | undefined
  readonly mode: string | undefined
  readonly dest: string | undefined
}

/** Pages that may be opened by a link from anywhere: they show no data until their script requests it. */
const PAGES = /^\/(console\/[^/]+|ui(\/.*)?)?$/
const DEFAULT_PORT = 80

/**
 * Protection against other web pages (DNS rebinding and CSRF), because requests carry no credential:
 * the Host must be this machine's own, and no other site may have sent the request. Tools other
 * than browsers send neither Origin nor Sec-Fetch-Site.
 */
export function passesFence(request: Provenance, own: ReadonlySet<string>): boolean {
  const host = ownHost(request, own)
  return host !== undefined && (isVisit(request) || comesFromUs(request, host))
}

/**
 * The same for a WebSocket, which is never a navigation: a client that sends Sec-Fetch-Site, as browsers do, must also send
 * our own Origin. (Node's own client sends Sec-Fetch-Mode alone.)
 */
export function passesSocketFence(request: Provenance, own: ReadonlySet<string>): boolean {
  const host = ownHost(request, own)
  if (host === undefined || !comesFromUs(request, host)) return false
  return request.origin !== undefined || request.site === undefined
}

function ownHost({ host, path }: Provenance, own: ReadonlySet<string>): string | undefined {
  const name = host?.toLowerCase()
  // An absolute URL as the path names its own host, which would then take precedence.
  return name !== undefined && own.has(name) && path.startsWith('/') ? name : undefined
}

function comesFromUs({ origin, site }: Provenance, host: string): boolean {
  if (origin !== undefined && origin.toLowerCase() !== `http://${host}`) return false
  return site === undefined || site === 'same-origin' || site === 'none'
}

/** Every valid Host header for this port. */
export function ownHosts(port: number): ReadonlySet<string> {
  const names = ['127.0.0.1', 'localhost', '[::1]']
  const withPort = names.map((name) => `${name}:${port}`)
  return new Set(port === DEFAULT_PORT ? [...withPort, ...names] : withPort)
}

/** Reads the raw headers: parsing them through Node's header object costs more than the rest of the check. */
export function provenanceOf({ method = '', url = '', rawHeaders }: IncomingMessage): Provenance {
  let hosts = 0
  let host: string | undefined
  let origin: string | undefined
  let site: string | undefined
  let mode: string | undefined
  let dest: string | undefined
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const value = rawHeaders[at + 1] ?? ''
    switch ((rawHeaders[at] ?? '').toLowerCase()) {
      case 'host':
        host = ++hosts === 1 ? value : undefined
        break
      case 'origin':
        origin = joinRepeated(origin, value)
        break
      case 'sec-fetch-site':
        site = joinRepeated(site, value)
        break
      case 'sec-fetch-mode':
        mode = joinRepeated(mode, value)
        break
      case 'sec-fetch-dest':
        dest = joinRepeated(dest, value)
        break
    }
  }
  return { method, path: url, host, origin, site, mode, dest }
}

/** A repeated header becomes a value that matches nothing. */
const joinRepeated = (before: string | undefined, value: string): string =>
  before === undefined ? value : `${before},${value}`

/** A navigation to a top-level document, not into a frame of another page. */
const isVisit = ({ method, path, mode, dest }: Provenance): boolean =>
  method === 'GET' &&
  mode === 'navigate' &&
  dest === 'document' &&
  PAGES.test(path.split('?')[0] ?? '')
