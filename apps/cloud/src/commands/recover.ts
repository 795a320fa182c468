import { Fault } from '@skerry/fault'
import { isUuid, type HostId } from '@skerry/vm'
import type { Kysely } from 'kysely'

import {
  maybe,
  printRows,
  type CommandInput,
  type AdminCommand,
  type CommandContext,
} from '../command-line/command.ts'
import { withStore } from '../command-line/with-store.ts'
import type { CloudTables } from '../database/tables.ts'
import { beginNewEra, recoveryStatus } from '../recovery/recovery-status.ts'
import { waiveHost } from '../recovery/recovery.ts'

/** The cells do the recovery. This command starts it, shows its progress, and waives a host. */
export const recover: AdminCommand = {
  name: 'recover',
  words: [],
  options: { status: true, waive: 'HOST' },
  summary:
    'run after a database restore and before starting a cell: start a new era and compare the database with the hosts; --status shows progress, --waive skips a host',
  run: (context, requested) =>
    withStore(requested, async (db) => {
      const waived = maybe(requested, 'waive')
      if (waived !== undefined) {
        if (!isUuid(waived)) {
          throw new Fault('invalid', `invalid host id: ${waived}`, {
            hint: 'skerry cloud recover --status',
          })
        }
        await waiveHost(db, waived as HostId)
      } else if (requested.options['status'] !== true) await beginNewEra(db)
      await printStatus(context, requested, db)
    }),
}

async function printStatus(
  context: CommandContext,
  requested: CommandInput,
  db: Kysely<CloudTables>,
): Promise<void> {
  const status = await recoveryStatus(db)
  const { print } = context
  if (requested.options['json'] === true) return print(JSON.stringify(status, null, 2))
  const { recovering, since, found, era, hosts } = status
  if (!recovering) {
    print(`the cloud is not recovering; its fencing tokens are of era ${era}`)
    if (found === null) return
    const counts = Object.entries(found).map(([kind, count]) => ({ found: kind, count }))
    print('findings of the last recovery:')
    printRows(context, requested, counts, ['found', 'count'])
    if ((found['vm.orphaned'] ?? 0) > 0) print('next: skerry cloud vm orphans')
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
      : 'next: bring the other hosts back, or skip one: skerry cloud recover --waive HOST',
  )
}
