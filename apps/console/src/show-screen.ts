import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

import { Fault, httpStatus } from '@skerry/fault'
import {
  mayComeFrom,
  refuseUpgrade,
  relay,
  whyNotHandshake,
  type Relayed,
  type ScreenServer,
} from '@skerry/screen'

import { openScreen, type Opened, type ScreenWorld } from './open-screen.ts'

export interface ShowWorld extends ScreenWorld {
  /** The only Origin whose pages may open a screen. */
  readonly origin: string
  readonly webSockets: ScreenServer
  readonly isDraining: () => boolean
  readonly log: (message: string, cause?: unknown) => void
}

export interface Upgrade {
  readonly request: IncomingMessage
  readonly socket: Duplex
  readonly head: Buffer
}

/** With all that comes before its first byte: ticket, host, display. */
const OPEN_MS = 10_000
/** Waiting to be opened at once. Each costs a connection and a question to the database. */
const OPENING_MOST = 1024
const SCREEN = /^\/screen\/vm-([A-Za-z0-9_.-]{1,63})$/

/** How many wait to be opened, by the door that they wait at. */
const opening = new WeakMap<ScreenServer, number>()

/** One screen from the handshake to its end. Whoever is refused is told in HTTP, whoever was let in by a close frame. */
export async function showScreen(world: ShowWorld, upgrade: Upgrade): Promise<void> {
  const { socket } = upgrade
  const from = (socket as Socket).remoteAddress ?? ''
  socket.on('error', () => undefined)
  try {
    const { screen, ...opened } = await admit(world, upgrade, from)
    const relayed = await showTo(world, upgrade, opened)
    world.log(`the screen of VM ${screen.vm} was shown to ${from}: ${whyOf(relayed)}`)
  } catch (error) {
    refuse(world, socket, error)
  }
}

async function admit(
  world: ShowWorld,
  { request, socket }: Upgrade,
  from: string,
): Promise<Opened> {
  const address = URL.parse(request.url ?? '', world.origin)
  const [, vm] = SCREEN.exec(address?.pathname ?? '') ?? []
  if (vm === undefined) throw new Fault('not-found', 'there is nothing at this address')
  const why = whyNotHandshake(request)
  if (why !== undefined) throw new Fault('invalid', why)
  if (!mayComeFrom(request.headers.origin, [world.origin])) {
    throw new Fault('forbidden', 'pages of other servers may not open a screen here')
  }
  const waiting = opening.get(world.webSockets) ?? 0
  if (world.isDraining() || waiting >= OPENING_MOST) {
    throw new Fault('unavailable', 'this console takes no more screens now', { hint: 'ask again' })
  }
  opening.set(world.webSockets, waiting + 1)
  const gone = new AbortController()
  const leave = () => gone.abort()
  socket.once('close', leave)
  try {
    const ticket = address?.searchParams.get('ticket') ?? ''
    const signal = AbortSignal.any([gone.signal, AbortSignal.timeout(OPEN_MS)])
    return await openScreen(world, { vm, ticket, from, signal })
  } finally {
    socket.off('close', leave)
    opening.set(world.webSockets, (opening.get(world.webSockets) ?? 1) - 1)
  }
}

async function showTo(
  { webSockets }: ShowWorld,
  { request, socket, head }: Upgrade,
  { display, open }: Omit<Opened, 'screen'>,
): Promise<Relayed> {
  let why = 'the viewer went away before it was open'
  try {
    // What the guest shows meanwhile waits in the display.
    const webSocket = await webSockets.accept(request, socket, head)
    const { signal, passed } = open
    const relayed = await relay(webSocket, display, {
      ...{ signal, passed, screenEnded: () => open.judge() },
    })
    why = whyOf(relayed)
    return relayed
  } finally {
    display.destroy()
    open.closed(why)
  }
}

const whyOf = ({ endedBy, ending }: Relayed): string =>
  endedBy === 'viewer' ? 'the viewer closed it' : ending.reason

/** The statuses of the contract: a ticket that is no good, whatever the host says of it, is 403. */
function refuse({ log }: ShowWorld, socket: Duplex, error: unknown): void {
  const isOurs = error instanceof Fault
  if (!isOurs) log('a screen could not be opened', error)
  const fault = isOurs ? error : new Fault('unavailable', 'the screen cannot be shown now')
  const { kind, message, hint } = fault
  const known = kind === 'invalid' || kind === 'not-found' || kind === 'too-many'
  const isAway = kind === 'unavailable' || kind === 'timed-out'
  const status = known ? httpStatus[kind] : isAway ? 503 : 403
  if (socket.destroyed) return
  refuseUpgrade(socket, status, { error: kind, message, ...(hint !== undefined && { hint }) })
}
