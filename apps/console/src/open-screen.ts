import type { Duplex } from 'node:stream'

import { Fault } from '@skerry/fault'
import type { ConnectedHost } from '@skerry/host-api'
import type { Redeemed, Screen } from '@skerry/ticket'

import type { OpenScreen, OpenScreens } from './open-screens.ts'

export interface ScreenWorld {
  /** Once: whatever comes of it, the ticket is used. */
  readonly redeem: (ticket: string, from: string) => Promise<Redeemed | 'unknown' | 'too many'>
  /** The way to the host that has this screen, and to no other machine. */
  readonly connect: (screen: Screen) => ConnectedHost
  readonly screens: OpenScreens
}

export interface Asked {
  /** Which VM the address names. */
  readonly vm: string
  readonly ticket: string
  /** The viewer's address. */
  readonly from: string
  /** That the viewer went away, or waited long enough. */
  readonly signal: AbortSignal
}

export interface Opened {
  readonly screen: Screen
  readonly display: Duplex
  readonly open: OpenScreen
}

/** 256 bits in base64url: what is anything else was never given out, and nobody is asked about it. */
const TICKET = /^[A-Za-z0-9_-]{43}$/

/** The same words for every ticket that is not good, whatever is wrong with it. */
export const noTicket = (): Fault =>
  new Fault('forbidden', 'this ticket was used before, is too old or was never given out', {
    hint: 'ask the cloud for a new one: it is good once, for 30 seconds',
  })

/** Redeems the ticket, then shows it to the host, which opens the display of that boot of that VM. */
export async function openScreen(
  { redeem, connect, screens }: ScreenWorld,
  { vm, ticket, from, signal }: Asked,
): Promise<Opened> {
  if (!TICKET.test(ticket)) throw noTicket()
  const redeemed = await redeem(ticket, from)
  if (redeemed === 'unknown') throw noTicket()
  if (redeemed === 'too many') {
    throw new Fault('too-many', 'too many screens are open, of this VM or by this user', {
      hint: 'close one, then ask the cloud for a new ticket',
    })
  }
  const { console, screen } = redeemed
  const open = screens.begin(console)
  try {
    if (screen.vm !== vm) throw noTicket()
    using host = connect(screen)
    return { screen, open, display: await host.open(screen.vm, ticket, signal) }
  } catch (error) {
    open.closed(signal.aborted ? 'the viewer went away before it was open' : reasonOf(error))
    throw error
  }
}

const reasonOf = (error: unknown): string =>
  error instanceof Fault ? error.message : 'it could not be opened'
