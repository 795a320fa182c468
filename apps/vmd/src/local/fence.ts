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
const PAGES = /^\/(console\/[^/]+)?$/
const DEFAULT_PORT = 80

/**
 * No request carries a credential, so this is the wall against web pages: the name a browser
 * resolved must be this machine's own, and no other page may have sent it. Tools other than browsers
 * send neither Origin nor Sec-Fetch-Site.
 */
export function passesFence(request: Provenance, own: ReadonlySet<string>): boolean {
  const host = ownHost(request, own)
  return host !== undefined && (isVisit(request) || comesFromUs(request, host))
}

/**
 * The same for a WebSocket: nobody visits one, and whoever says as browsers do from which site he comes shows our own Origin
 * too. (Node's own client sends Sec-Fetch-Mode alone.)
 */
export function passesSocketFence(request: Provenance, own: ReadonlySet<string>): boolean {
  const host = ownHost(request, own)
  if (host === undefined || !comesFromUs(request, host)) return false
  return request.origin !== undefined || request.site === undefined
}

function ownHost({ host, path }: Provenance, own: ReadonlySet<string>): string | undefined {
  const name = host?.toLowerCase()
  // A whole URL as the path names a host of its own, which would then be the one that counts.
  return name !== undefined && own.has(name) && path.startsWith('/') ? name : undefined
}

function comesFromUs({ origin, site }: Provenance, host: string): boolean {
  if (origin !== undefined && origin.toLowerCase() !== `http://${host}`) return false
  return site === undefined || site === 'same-origin' || site === 'none'
}

/** Every Host by which this machine may be asked at this port. */
export function ownHosts(port: number): ReadonlySet<string> {
  const names = ['127.0.0.1', 'localhost', '[::1]']
  const withPort = names.map((name) => `${name}:${port}`)
  return new Set(port === DEFAULT_PORT ? [...withPort, ...names] : withPort)
}

/** Read from the headers as they came: the sums that Node makes of them cost more than all the rest of the fence. */
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
        origin = joined(origin, value)
        break
      case 'sec-fetch-site':
        site = joined(site, value)
        break
      case 'sec-fetch-mode':
        mode = joined(mode, value)
        break
      case 'sec-fetch-dest':
        dest = joined(dest, value)
        break
    }
  }
  return { method, path: url, host, origin, site, mode, dest }
}

/** Two of a kind are no longer a word that anybody knows. */
const joined = (before: string | undefined, value: string): string =>
  before === undefined ? value : `${before},${value}`

/** A person follows a link, or types an address, in a window of its own: not in a frame of another page. */
const isVisit = ({ method, path, mode, dest }: Provenance): boolean =>
  method === 'GET' &&
  mode === 'navigate' &&
  dest === 'document' &&
  PAGES.test(path.split('?')[0] ?? '')
