import type { HostId, OrgId, UserId, VmId } from '@skerry/vm'
import { sql, type Transaction } from 'kysely'

export interface NewTicket {
  readonly hash: Buffer
  readonly vm: { readonly org: OrgId; readonly vapp: string; readonly id: VmId }
  readonly boot: string
  readonly host: HostId
  /** The caller: a user of the VM's organisation, or a system administrator. */
  readonly principal: {
    readonly org: OrgId
    readonly account: UserId
    readonly user: string
    readonly address?: string
  }
}

/**
 * Stores the hash of a ticket for the console that redeems it, and emits its event. Deletes expired tickets. Returns when it
 * expires, by the database's clock, which is the only one used.
 */
export async function issueTicket<DB>(tx: Transaction<DB>, ticket: NewTicket): Promise<Date> {
  const { hash, vm, boot, host, principal } = ticket
  await sql`delete from screen_ticket
    where org = ${vm.org} and vm = ${vm.id} and made_at < clock_timestamp() - interval '1 h'`.execute(
    tx,
  )
  const { rows } = await sql<{ expires: Date }>`
    insert into screen_ticket (ticket_hash, org, vm, boot, host, account_org, account)
    values (${hash}, ${vm.org}, ${vm.id}, ${boot}, ${host}, ${principal.org}, ${principal.account})
    returning made_at + ticket_life() as expires`.execute(tx)
  const what = {
    by: principal.user,
    ...(principal.address !== undefined && { from: principal.address }),
  }
  await sql`insert into event (kind, org, vapp, vm, details)
    values ('screen.ticket', ${vm.org}, ${vm.vapp}, ${vm.id}, ${JSON.stringify(what)}::jsonb)`.execute(
    tx,
  )
  const [kept] = rows
  if (!kept) throw new Error('the insert returned no row')
  return kept.expires
}
