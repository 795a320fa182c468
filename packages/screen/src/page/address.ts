/** The URL parts that the first script removed from the address bar. */
export interface TakenAddress {
  readonly pathname: string
  readonly search: string
  /** The history state left by an earlier load of this page. */
  readonly kept: unknown
}

/** Which screen this page shows, and how to open it. */
export type Address =
  | { readonly mode: 'cloud'; readonly name: string; readonly socket: string }
  | { readonly mode: 'laptop'; readonly name: string; readonly socket: string }
  | { readonly mode: 'none'; readonly why: 'no ticket' | 'ticket used' | 'no ticket at all' }

const TICKET_TEXT = /^mks:\/\/[^/]+\/([A-Za-z0-9][A-Za-z0-9_.-]*)\?ticket=([^&]+)$/
const VM_ON_LAPTOP = /^\/console\/([A-Za-z0-9][A-Za-z0-9_.-]{0,62})\/?$/

/**
 * `/console?<ticket text>` belongs to a cloud, `/console/<vm>` to a laptop. The query is decoded once for the ticket text, and
 * the ticket's value once more. The host in the ticket is never contacted: the page connects to its own origin only.
 */
export function readAddress({ pathname, search, kept }: TakenAddress): Address {
  const local = VM_ON_LAPTOP.exec(pathname)
  if (local) {
    const [, name = ''] = local
    const ticket = new URLSearchParams(search).get('ticket')
    const query = ticket === null ? '' : `?ticket=${encodeURIComponent(ticket)}`
    return { mode: 'laptop', name, socket: `/console/${encodeURIComponent(name)}/screen${query}` }
  }
  if (search.length < 2) {
    const hadTicket = (kept as { hadTicket?: unknown } | null)?.hadTicket === true
    return { mode: 'none', why: hadTicket ? 'ticket used' : 'no ticket' }
  }
  const [, vm, value] = TICKET_TEXT.exec(decoded(search.slice(1)) ?? '') ?? []
  const ticket = value === undefined ? undefined : decoded(value)
  if (vm === undefined || ticket === undefined) return { mode: 'none', why: 'no ticket at all' }
  const socket = `/screen/${encodeURIComponent(vm)}?ticket=${encodeURIComponent(ticket)}`
  return { mode: 'cloud', name: vm, socket }
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
