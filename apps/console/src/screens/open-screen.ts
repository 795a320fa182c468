import type { Duplex } from 'node:stream'

import { Fault } from '@skerry/fault'
import type { ConnectedHost } from '@skerry/host-api'
import type { Redeemed, Screen } from '@skerry/ticket'

import type { OpenScreen, OpenScreens } from './open-screens.ts'

export interface ScreenContext {
  /** Single use: the ticket is used up in any case. */
  readonly redeem: (ticket: string, from: string) => Promise<Redeemed | 'unknown' | 'too many'>
  /** Connects to the host that has this screen, and to no other machine. */
  readonly connect: (screen: Screen) => ConnectedHost
  readonly screens: OpenScreens
}

export interface ScreenRequest {
  /** The VM in the URL. */
  readonly vm: string
  readonly ticket: string
  /** The viewer's address. */
  readonly from: string
  /** Aborted when the viewer disconnects or the timeout expires. */
  readonly signal: AbortSignal
}

export interface Opened {
  readonly screen: Screen
  readonly display: Duplex
  readonly open: OpenScreen
}

/** 256 bits in base64url: any other text was never issued and is rejected without a lookup. */
const TICKET = /^[A-Za-z0-9_-]{43}$/

/** The same message for every invalid ticket, regardless of the reason. */
export const noTicket = (): Fault =>
  new Fault('forbidden', 'the ticket is used, expired or unknown', {
    hint: 'request a new one from the cloud: it is valid once, for 30 seconds',
  })

/** Redeems the ticket, then presents it to the host, which opens the display of that boot of that VM. */
export async function openScreen(
  { redeem, connect, screens }: ScreenContext,
  { vm, ticket, from, signal }: ScreenRequest,
): Promise<Opened> {
  if (!TICKET.test(ticket)) throw noTicket()
  const redeemed = await redeem(ticket, from)
  if (redeemed === 'unknown') throw noTicket()
  if (redeemed === 'too many') {
    throw new Fault('too-many', 'too many screens are open for this VM or this user', {
      hint: 'close one, then request a new ticket from the cloud',
    })
  }
  const { console, screen } = redeemed
  const open = screens.begin(console)
  try {
    if (screen.vm !== vm) throw noTicket()
    using host = connect(screen)
    return { screen, open, display: await host.open(screen.vm, ticket, signal) }
  } catch (error) {
    open.closed(signal.aborted ? 'the viewer disconnected before it was open' : reasonOf(error))
    throw error
  }
}

const reasonOf = (error: unknown): string =>
  error instanceof Fault ? error.message : 'it could not be opened'
