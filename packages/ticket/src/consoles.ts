// The three functions of the database that a console may call, and nothing else of it.
import type { HostId, VmId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import { hashOf } from './hash-of.ts'
import { type Ended, endings, type OpenConsole, type Redeemed } from './ticket.ts'

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
 * Uses a ticket up, whatever comes of it. `unknown`: it is nobody's, was used, is too old, or its screen or right to see it is gone.
 * `via` is the console process that asks, `from` the address of the person.
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
 * Says that these are still shown; the answer is those that must be closed. To be called every 2 s, also with none: what another
 * process left behind is closed by it.
 */
export async function renewConsoles<DB>(
  db: Kysely<DB>,
  via: string,
  open: readonly OpenConsole[],
): Promise<Ended[]> {
  const ids = open.map(({ console }) => console)
  const bytes = open.map((each) => each.bytes)
  const { rows } = await sql<{ console: string; why: string }>`
    select * from renew_consoles(${via}, ${ids}::uuid[], ${bytes}::bigint[])`.execute(db)
  return rows.map(({ console, why }) => ({ console, why, cause: endings[why] ?? 'vm' }))
}

/** Its end is told of once, with all its bytes. Where the database has ended it, its reason is the one that is told. */
export async function closeConsole<DB>(
  db: Kysely<DB>,
  console: string,
  bytes: number,
  why: string,
): Promise<void> {
  await sql`select close_console(${console}::uuid, ${bytes}::bigint, ${why})`.execute(db)
}
