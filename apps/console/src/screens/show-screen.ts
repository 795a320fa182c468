import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

import { Fault, httpStatus } from '@skerry/fault'
import {
  mayComeFrom,
  refuseUpgrade,
  relay,
  whyNotHandshake,
  type RelayResult,
  type ScreenServer,
} from '@skerry/screen'
import { markAuthenticated } from '@skerry/service'

import { openScreen, type Opened, type ScreenContext } from './open-screen.ts'

export interface ShowScreenContext extends ScreenContext {
  /** The only Origins whose pages may open a screen; the first is the console's own. */
  readonly origins: readonly [string, ...string[]]
  readonly webSockets: ScreenServer
  readonly isDraining: () => boolean
  readonly log: (message: string, cause?: unknown) => void
  /** Counts an answered request. */
  readonly answered?: (
    route: string | undefined,
    answer: { method: string; status: number; seconds: number | 'streamed' },
  ) => void
}

export interface ScreenUpgrade {
  readonly request: IncomingMessage
  readonly socket: Duplex
  readonly head: Buffer
}

/** The time for ticket, host and display, up to the first byte. */
const OPEN_MS = 10_000
/** The maximum number of screens being opened. Each costs a connection and a database query. */
const OPENING_MOST = 1024
const SCREEN = /^\/screen\/vm-([A-Za-z0-9_.-]{1,63})$/

/** The number of screens being opened, by server. */
const opening = new WeakMap<ScreenServer, number>()

/** One screen from the handshake to its end. A rejected client gets an HTTP status, an accepted one a close frame. */
export async function showScreen(
  context: ShowScreenContext,
  upgrade: ScreenUpgrade,
): Promise<void> {
  const { socket } = upgrade
  const from = (socket as Socket).remoteAddress ?? ''
  socket.on('error', () => undefined)
  try {
    const { screen, ...opened } = await admit(context, upgrade, from)
    markAuthenticated(socket)
    context.answered?.('showScreen', { method: 'GET', status: 101, seconds: 'streamed' })
    const relayed = await showTo(context, upgrade, opened)
    context.log(`the screen of VM ${screen.vm} was shown to ${from}: ${whyOf(relayed)}`)
  } catch (error) {
    refuse(context, socket, error)
  }
}

async function admit(
  context: ShowScreenContext,
  { request, socket }: ScreenUpgrade,
  from: string,
): Promise<Opened> {
  const address = URL.parse(request.url ?? '', context.origins[0])
  const [, vm] = SCREEN.exec(address?.pathname ?? '') ?? []
  if (vm === undefined) throw new Fault('not-found', 'path not found')
  const why = whyNotHandshake(request)
  if (why !== undefined) throw new Fault('invalid', why)
  if (!mayComeFrom(request.headers.origin, context.origins)) {
    throw new Fault('forbidden', 'pages of other origins may not open a screen')
  }
  const waiting = opening.get(context.webSockets) ?? 0
  if (context.isDraining() || waiting >= OPENING_MOST) {
    throw new Fault('unavailable', 'this console accepts no more screens now', { hint: 'retry' })
  }
  opening.set(context.webSockets, waiting + 1)
  const gone = new AbortController()
  const leave = () => gone.abort()
  socket.once('close', leave)
  try {
    const ticket = address?.searchParams.get('ticket') ?? ''
    const signal = AbortSignal.any([gone.signal, AbortSignal.timeout(OPEN_MS)])
    return await openScreen(context, { vm, ticket, from, signal })
  } finally {
    socket.off('close', leave)
    opening.set(context.webSockets, (opening.get(context.webSockets) ?? 1) - 1)
  }
}

async function showTo(
  { webSockets }: ShowScreenContext,
  { request, socket, head }: ScreenUpgrade,
  { display, open }: Omit<Opened, 'screen'>,
): Promise<RelayResult> {
  let why = 'the viewer disconnected before it was open'
  try {
    // Screen updates meanwhile wait in the display's buffer.
    const webSocket = await webSockets.accept(request, socket, head)
    const { signal, passed } = open
    const relayed = await relay(webSocket, display, {
      signal,
      passed,
      screenEnded: () => open.judge(),
    })
    why = whyOf(relayed)
    return relayed
  } finally {
    display.destroy()
    open.closed(why)
  }
}

const whyOf = ({ endedBy, ending }: RelayResult): string =>
  endedBy === 'viewer' ? 'the viewer closed it' : ending.reason

/** The statuses of the contract: an invalid ticket is always 403, regardless of the host's reason. */
function refuse({ log, answered }: ShowScreenContext, socket: Duplex, error: unknown): void {
  const isOurs = error instanceof Fault
  if (!isOurs) log('failed to open a screen', error)
  const fault = isOurs ? error : new Fault('unavailable', 'the screen cannot be shown now')
  const { kind, message, hint } = fault
  const known = kind === 'invalid' || kind === 'not-found' || kind === 'too-many'
  const isAway = kind === 'unavailable' || kind === 'timed-out'
  const status = known ? httpStatus[kind] : isAway ? 503 : 403
  answered?.('showScreen', { method: 'GET', status, seconds: 'streamed' })
  if (socket.destroyed) return
  refuseUpgrade(socket, status, { error: kind, message, ...(hint !== undefined && { hint }) })
}
