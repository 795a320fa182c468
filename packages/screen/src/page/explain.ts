/** How a screen ended, as far as the page can know: a browser does not report why a WebSocket was rejected. */
export type End = { readonly how: How } | { readonly how: 'closed'; readonly code: number }

export interface Words {
  /** One line, for the bar and for screen readers. */
  readonly state: string
  readonly headline: string
  readonly advice: readonly string[]
  /** Whether the page reconnects by itself: on a laptop it needs no ticket, and the web UI requests a new one. */
  readonly comesBack: boolean
  readonly tone: 'calm' | 'trouble'
}

interface Row {
  readonly state: string
  readonly headline: string
  readonly cloud: readonly string[]
  readonly laptop: readonly string[]
  /** Below a screen in the web UI, which offers to connect again. */
  readonly docked?: readonly string[]
  readonly calm?: boolean
  readonly final?: boolean
}

const NEW_TICKET = [
  'Go back to where you opened this screen, and open it again: that creates a new ticket.',
  'Manually: POST to the VM’s screen/action/acquireTicket, and append the answer, URL-encoded, after the question mark of this page’s URL.',
] as const
const AGAIN = ['The page reconnects automatically.'] as const

const rows = {
  'no ticket': {
    state: 'No ticket',
    headline: 'This page opens a screen with a ticket',
    cloud: ['Its URL must contain one, after the question mark.', ...NEW_TICKET],
    laptop: [],
  },
  'ticket used': {
    state: 'Ticket used',
    headline: 'This ticket was used',
    cloud: [
      'A ticket opens one screen, once; reloading the page requires a new one.',
      ...NEW_TICKET,
    ],
    laptop: [],
  },
  'no ticket at all': {
    state: 'No ticket',
    headline: 'The URL contains no valid ticket',
    cloud: [
      'Expected mks://HOST/VM?ticket=…, URL-encoded, after the question mark.',
      ...NEW_TICKET,
    ],
    laptop: [],
  },
  refused: {
    state: 'Not opened',
    headline: 'The screen was not opened',
    cloud: [
      'Its ticket was used, is older than 30 seconds, or the VM was powered off; or too many of its screens are open, or its host is unreachable.',
      ...NEW_TICKET,
    ],
    laptop: AGAIN,
    docked: [
      'Too many of its screens are open, its host or the console is unreachable, or the console does not accept this page. If no screen opens here, open it in a window.',
    ],
  },
  unreachable: {
    state: 'No connection',
    headline: 'The console does not answer',
    cloud: ['Check your network.', ...NEW_TICKET],
    laptop: ['Check that vmd runs: skerry doctor.', ...AGAIN],
  },
  'no such VM': {
    state: 'No such VM',
    headline: 'VM not found',
    cloud: [],
    laptop: ['skerry list shows all VMs.'],
    final: true,
  },
  'ticket wanted': {
    state: 'Ticket required',
    headline: 'This vmd requires a ticket for a screen',
    cloud: [],
    laptop: [
      'A ticket opens one screen, once, within 30 seconds.',
      'skerry console VM prints a URL with a new one.',
    ],
    final: true,
  },
  'too many': {
    state: 'Too many',
    headline: 'This screen is open in too many windows',
    cloud: ['Close one of them first.', ...NEW_TICKET],
    laptop: ['Close one of them, then connect again.'],
    docked: ['Close one of them, then connect again.'],
    final: true,
  },
  'not understood': {
    state: 'Protocol error',
    headline: 'The display sent data that this page cannot interpret',
    cloud: NEW_TICKET,
    laptop: ['Reload the page.'],
    final: true,
  },
  off: {
    state: 'Powered off',
    headline: 'The VM was powered off',
    cloud: ['Power it on, and open its screen again: each boot requires a new ticket.'],
    laptop: ['Start it with skerry start; its screen then reappears here.'],
    docked: ['Start it; its screen then reappears here.'],
    calm: true,
  },
  'right lost': {
    state: 'Access revoked',
    headline: 'You no longer have access to this screen',
    cloud: [
      'The right was revoked, or the account was disabled. Contact your organisation’s administrator.',
    ],
    laptop: [],
    docked: ['Contact your organisation’s administrator.'],
    final: true,
  },
  stopped: {
    state: 'Ended',
    headline: 'This console was stopped',
    cloud: ['The VM keeps running.', ...NEW_TICKET],
    laptop: AGAIN,
    docked: ['The VM keeps running.', ...AGAIN],
    calm: true,
  },
  'host lost': {
    state: 'Host lost',
    headline: 'The link to the VM’s host was lost',
    cloud: ['The VM may still be running.', ...NEW_TICKET],
    laptop: AGAIN,
    docked: ['The VM may still be running.', ...AGAIN],
  },
  lost: {
    state: 'Connection lost',
    headline: 'The connection was lost',
    cloud: ['The VM keeps running.', ...NEW_TICKET],
    laptop: ['The VM keeps running.', ...AGAIN],
    docked: ['The VM keeps running.', ...AGAIN],
  },
} as const satisfies Record<string, Row>

type How = keyof typeof rows

/** The console's close codes; every other code means a lost connection. */
const codes: Readonly<Record<number, How>> = {
  4001: 'off',
  4003: 'right lost',
  4008: 'stopped',
  4029: 'too many',
  1011: 'host lost',
}

/** The text for an end, and what the user can do. */
export function explain(mode: 'cloud' | 'laptop' | 'docked', end: End): Words {
  const row: Row = rows[end.how === 'closed' ? (codes[end.code] ?? 'lost') : end.how]
  return {
    state: row.state,
    headline: row.headline,
    advice: row[mode] ?? [],
    comesBack: mode !== 'cloud' && row.final !== true,
    tone: row.calm === true ? 'calm' : 'trouble',
  }
}
