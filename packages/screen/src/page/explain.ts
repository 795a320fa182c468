/** How a screen ended, as far as a page can know it: a refused WebSocket tells a browser nothing. */
export type End = { readonly how: How } | { readonly how: 'closed'; readonly code: number }

export interface Words {
  /** One line, for the bar and for screen readers. */
  readonly state: string
  readonly headline: string
  readonly advice: readonly string[]
  /** Whether the page tries by itself to come back: a laptop's needs no ticket. */
  readonly comesBack: boolean
  readonly tone: 'calm' | 'trouble'
}

interface Row {
  readonly state: string
  readonly headline: string
  readonly cloud: readonly string[]
  readonly laptop: readonly string[]
  readonly calm?: boolean
  readonly final?: boolean
}

const NEW_TICKET = [
  'Go back to where you opened this screen from, and open it again: that makes a new ticket.',
  'By hand: POST to the VM’s screen/action/acquireTicket, and put the answer, URL-encoded, after the question mark of this page’s address.',
] as const
const AGAIN = ['It is tried again by itself.'] as const

const rows = {
  'no ticket': {
    state: 'No ticket',
    headline: 'This page opens a screen with a ticket',
    cloud: ['Its address must carry one, after the question mark.', ...NEW_TICKET],
    laptop: [],
  },
  'ticket used': {
    state: 'Ticket used',
    headline: 'This ticket was used',
    cloud: [
      'A ticket opens one screen, once; loading the page again needs a new one.',
      ...NEW_TICKET,
    ],
    laptop: [],
  },
  'no ticket at all': {
    state: 'No ticket',
    headline: 'What is in the address is no ticket',
    cloud: [
      'Expected was mks://HOST/VM?ticket=…, URL-encoded, after the question mark.',
      ...NEW_TICKET,
    ],
    laptop: [],
  },
  refused: {
    state: 'Not opened',
    headline: 'The screen was not opened',
    cloud: [
      'Its ticket was used already, is older than 30 seconds, or the VM was powered off meanwhile; or too many of its screens are open, or its host is away.',
      ...NEW_TICKET,
    ],
    laptop: AGAIN,
  },
  unreachable: {
    state: 'No connection',
    headline: 'The console does not answer',
    cloud: ['Check your network.', ...NEW_TICKET],
    laptop: ['Is vmd running? skerry doctor tells.', ...AGAIN],
  },
  'no such VM': {
    state: 'No such VM',
    headline: 'There is no VM of this name',
    cloud: [],
    laptop: ['skerry list shows those there are.'],
    final: true,
  },
  'ticket wanted': {
    state: 'Ticket wanted',
    headline: 'This vmd wants a ticket for a screen',
    cloud: [],
    laptop: [
      'A ticket opens one screen, once, within half a minute.',
      'skerry console, with the name of the VM, prints an address with a new one.',
    ],
    final: true,
  },
  'too many': {
    state: 'Too many',
    headline: 'This screen is open in too many windows',
    cloud: ['Close one of them first.', ...NEW_TICKET],
    laptop: ['Close one of them, then connect again.'],
    final: true,
  },
  'not understood': {
    state: 'Not understood',
    headline: 'The display spoke in a way that this page does not understand',
    cloud: NEW_TICKET,
    laptop: ['Load the page again.'],
    final: true,
  },
  off: {
    state: 'Powered off',
    headline: 'The VM was powered off',
    cloud: ['Power it on, and open its screen again: each start needs a new ticket.'],
    laptop: ['Start it with skerry start; its screen then comes back here by itself.'],
    calm: true,
  },
  'right lost': {
    state: 'Right lost',
    headline: 'You may not see this screen any more',
    cloud: [
      'The right was taken away, or the account was shut. Ask whoever runs your organisation.',
    ],
    laptop: [],
    final: true,
  },
  stopped: {
    state: 'Ended',
    headline: 'This console was stopped',
    cloud: ['The VM itself goes on.', ...NEW_TICKET],
    laptop: AGAIN,
    calm: true,
  },
  'host lost': {
    state: 'Host lost',
    headline: 'The link to the VM’s host was lost',
    cloud: ['The VM itself may well go on.', ...NEW_TICKET],
    laptop: AGAIN,
  },
  lost: {
    state: 'Connection lost',
    headline: 'The connection was lost',
    cloud: ['The VM itself goes on.', ...NEW_TICKET],
    laptop: ['The VM itself goes on.', ...AGAIN],
  },
} as const satisfies Record<string, Row>

type How = keyof typeof rows

/** As the console closes a WebSocket; every other code is a connection that broke. */
const codes: Readonly<Record<number, How>> = {
  4001: 'off',
  4003: 'right lost',
  4008: 'stopped',
  4029: 'too many',
  1011: 'host lost',
}

/** What is said of an end, and what helps. */
export function explain(mode: 'cloud' | 'laptop', end: End): Words {
  const row: Row = rows[end.how === 'closed' ? (codes[end.code] ?? 'lost') : end.how]
  return {
    state: row.state,
    headline: row.headline,
    advice: row[mode],
    comesBack: mode === 'laptop' && row.final !== true,
    tone: row.calm === true ? 'calm' : 'trouble',
  }
}
