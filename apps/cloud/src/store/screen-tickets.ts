import { sql } from 'kysely'

import type { Who } from '../identity/authorize.ts'
import type { Tx } from '../world.ts'
import { by, tell } from './events.ts'
import type { VmRow } from './vms.ts'

export interface NewTicket {
  readonly vm: VmRow
  readonly boot: string
  readonly hash: Buffer
}

/** Written down as a hash, for the console that redeems it; those that nobody can use any more go. */
export async function keepTicket(tx: Tx, who: Who, { vm, boot, hash }: NewTicket): Promise<void> {
  await sql`delete from screen_ticket
    where org = ${vm.org} and vm = ${vm.id} and made_at < clock_timestamp() - interval '1 h'`.execute(
    tx,
  )
  await tx
    .insertInto('screen_ticket')
    .values({
      ...{ org: vm.org, vm: vm.id, boot, ticket_hash: hash },
      ...{ account_org: who.org, account: who.account },
    })
    .execute()
  await tell(tx, { kind: 'screen.ticket', vm, what: by(who) })
}
