import type { HostApi } from '@skerry/host-api'
import type { HostId, VmId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import { payDebts } from '../hosts/follow-host.ts'
import { open } from '../store/claimable.ts'
import type { Database } from '../store/database.ts'

/** What is owed at a hello is paid then; a pass takes what is left, and disturbs no session that begins. */
const LEFT_SECONDS = 30

/**
 * Debts are paid at a host's next hello. One that is written down just after that hello would wait for the next, and with it
 * all that is asked of its VM: so it is paid to a host that is open. Answers with the VMs that can go on.
 */
export async function reconcileDebts(
  db: Kysely<Database>,
  hosts: (id: HostId) => HostApi,
  signal: AbortSignal,
): Promise<readonly VmId[]> {
  const { rows } = await sql<{ host: HostId; vms: VmId[] }>`
    select debt.host, array_agg(debt.vm) as vms from debt join host on host.id = debt.host
    where ${open} and not (select recovering from cloud)
      and debt.made_at < clock_timestamp() - make_interval(secs => ${LEFT_SECONDS})
    group by debt.host`.execute(db)
  const paid = await Promise.allSettled(
    rows.map(async ({ host, vms }) => {
      await payDebts(db, host, hosts(host), signal)
      return vms
    }),
  )
  // A host that is gone again pays at its hello, or in the next pass.
  return paid.flatMap((each) => (each.status === 'fulfilled' ? each.value : []))
}
