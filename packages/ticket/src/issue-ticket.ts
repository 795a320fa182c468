import type { HostId, OrgId, UserId, VmId } from '@skerry/vm'
import { sql, type Transaction } from 'kysely'

export interface NewTicket {
  readonly hash: Buffer
  readonly vm: { readonly org: OrgId; readonly vapp: string; readonly id: VmId }
  readonly boot: string
  readonly host: HostId
  /** Who asked: somebody of the VM's organisation, or one of those who run the cloud. */
  readonly who: {
    readonly org: OrgId
    readonly account: UserId
    readonly user: string
    readonly address?: string
  }
}

/**
 * Written down as a hash, for the console that redeems it, with the event that tells of it. Those that nobody can use any more go.
 * Answers when it ends, by the database's clock: no other is asked.
 */
export async function issueTicket<DB>(tx: Transaction<DB>, ticket: NewTicket): Promise<Date> {
  const { hash, vm, boot, host, who } = ticket
  await sql`delete from screen_ticket
    where org = ${vm.org} and vm = ${vm.id} and made_at < clock_timestamp() - interval '1 h'`.execute(
    tx,
  )
  const { rows } = await sql<{ expires: Date }>`
    insert into screen_ticket (ticket_hash, org, vm, boot, host, account_org, account)
    values (${hash}, ${vm.org}, ${vm.id}, ${boot}, ${host}, ${who.org}, ${who.account})
    returning made_at + ticket_life() as expires`.execute(tx)
  const what = { by: who.user, ...(who.address !== undefined && { from: who.address }) }
  await sql`insert into event (kind, org, vapp, vm, what)
    values ('screen.ticket', ${vm.org}, ${vm.vapp}, ${vm.id}, ${JSON.stringify(what)}::jsonb)`.execute(
    tx,
  )
  const [kept] = rows
  if (!kept) throw new Error('a row that was inserted was not answered')
  return kept.expires
}
