// The three database functions that a console may call; it has no other access.
import type { HostId, VmId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import { hashOf } from './hash-of.ts'
import { reasonOf, type EndedConsole, type OpenConsole, type Redeemed } from './ticket.ts'

type RedeemedRow =
  | { readonly outcome: 'unknown' | 'too many' }
  | {
      readonly outcome: 'open'
      readonly console: string
      readonly vm: VmId
      readonly name: string
      readonly boot: string
      readonly host: HostId
      readonly address: string
      readonly port: number
    }

/**
 * Redeems a ticket; it is used up even if this fails. `unknown`: the ticket does not exist, was used, has expired, or its screen or
 * the right to see it is gone. `via` is the console process, `from` the address of the user.
 */
export async function redeemTicket<DB>(
  db: Kysely<DB>,
  secret: string,
  via: string,
  from?: string,
): Promise<Redeemed | 'unknown' | 'too many'> {
  const { rows } = await sql<RedeemedRow>`
    select * from redeem_ticket(${hashOf(secret)}, ${via}, ${from ?? null})`.execute(db)
  const [row] = rows
  if (!row) return 'unknown'
  if (row.outcome !== 'open') return row.outcome
  const { console, vm, name, boot, host, address, port } = row
  return { console, screen: { vm, name, boot, host, address, port } }
}

/**
 * Renews the open screens; returns those that must be closed. Call it every 2 s, also without open screens: it closes what another
 * process left behind.
 */
export async function renewConsoles<DB>(
  db: Kysely<DB>,
  via: string,
  open: readonly OpenConsole[],
): Promise<EndedConsole[]> {
  const ids = open.map(({ console }) => console)
  const bytes = open.map((each) => each.bytes)
  const { rows } = await sql<{ console: string; why: string }>`
    select * from renew_consoles(${via}, ${ids}::uuid[], ${bytes}::bigint[])`.execute(db)
  return rows.map(({ console, why }) => ({ console, why, ...reasonOf(why) }))
}

/** Emits the end of a screen once, with its total bytes. If the database has already ended it, the database's reason is used. */
export async function closeConsole<DB>(
  db: Kysely<DB>,
  console: string,
  bytes: number,
  why: string,
): Promise<void> {
  await sql`select close_console(${console}::uuid, ${bytes}::bigint, ${why})`.execute(db)
}
