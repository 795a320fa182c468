import { hostAdmin, type Args } from '@skerry/command-line'
import { Fault } from '@skerry/fault'
import { isUuid, type HostId } from '@skerry/vm'
import type { Kysely } from 'kysely'

import { printRows, runs, type AdminCommand, type CommandContext } from '../command-line/command.ts'
import { withStore } from '../command-line/with-store.ts'
import type { CloudTables } from '../database/tables.ts'
import { beginNewEra, recoveryStatus } from '../recovery/recovery-status.ts'
import { waiveHost } from '../recovery/recovery.ts'

/** The cells do the recovery. These commands start it, show its progress, and waive a host. */
export const recovery: readonly AdminCommand[] = [
  runs(hostAdmin.startRecovery, (context, requested) =>
    withStore(requested, async (db) => {
      await beginNewEra(db)
      await printStatus(context, requested, db)
    }),
  ),
  runs(hostAdmin.showRecovery, (context, requested) =>
    withStore(requested, async (db) => printStatus(context, requested, db)),
  ),
  runs(hostAdmin.waive, (context, requested) =>
    withStore(requested, async (db) => {
      const [host = ''] = requested.words
      if (!isUuid(host)) {
        throw new Fault('invalid', `invalid host id: ${host}`, {
          hint: 'skerry admin recovery info',
        })
      }
      await waiveHost(db, host as HostId)
      await printStatus(context, requested, db)
    }),
  ),
]

async function printStatus(
  context: CommandContext,
  requested: Args,
  db: Kysely<CloudTables>,
): Promise<void> {
  const status = await recoveryStatus(db)
  const { print } = context
  if (requested.json) return print(JSON.stringify(status, null, 2))
  const { recovering, since, found, era, hosts } = status
  if (!recovering) {
    print(`the cloud is not recovering; its fencing tokens are of era ${era}`)
    if (found === null) return
    const counts = Object.entries(found).map(([kind, count]) => ({ found: kind, count }))
    print('findings of the last recovery:')
    printRows(context, requested, counts, ['found', 'count'])
    if ((found['vm.orphaned'] ?? 0) > 0) print('next: skerry admin orphan list')
    return
  }
  const left = hosts.filter((host) => host.is === 'waited for')
  print(
    `recovery started at ${since?.toISOString()}: ${hosts.length - left.length} of ${hosts.length} hosts are read or waived`,
  )
  printRows(context, requested, hosts, ['id', 'name', 'is', 'seenAt'])
  print(
    left.length === 0
      ? 'next: nothing; a running cell completes the recovery within seconds'
      : 'next: bring the other hosts back, or skip one: skerry admin recovery waive HOST',
  )
}
