import { Fault } from '@skerry/fault'
import type { HostId } from '@skerry/vm'
import type { Kysely } from 'kysely'

import { maybe, printRows, type Asked, type Command, type CommandWorld } from '../command.ts'
import { isUuid } from '../ids.ts'
import type { Database } from '../store/database.ts'
import { beginNewEra, recoveryStatus } from '../store/recovery-status.ts'
import { waiveHost } from '../store/recovery.ts'
import { withStore } from './with-store.ts'

/** The cells do the work: this says that it is needed, shows how far it is, and does without a host. */
export const recover: Command = {
  name: 'recover',
  words: [],
  options: { status: true, waive: 'HOST' },
  summary:
    'after the database was restored, before a cell is started: raises the era and finds out what the hosts have; --status tells how far it is, --waive does without a host',
  run: (world, asked) =>
    withStore(asked, async (db) => {
      const waived = maybe(asked, 'waive')
      if (waived !== undefined) {
        if (!isUuid(waived)) {
          throw new Fault('invalid', `${waived} is no id`, {
            hint: 'skerry cloud recover --status',
          })
        }
        await waiveHost(db, waived as HostId)
      } else if (asked.options['status'] !== true) await beginNewEra(db)
      await printStatus(world, asked, db)
    }),
}

async function printStatus(world: CommandWorld, asked: Asked, db: Kysely<Database>): Promise<void> {
  const status = await recoveryStatus(db)
  const { print } = world
  if (asked.options['json'] === true) return print(JSON.stringify(status, null, 2))
  const { recovering, since, found, era, hosts } = status
  if (!recovering) {
    print(`the cloud is not recovering; its numbers are of era ${era}`)
    if (found === null) return
    const counts = Object.entries(found).map(([kind, count]) => ({ found: kind, count }))
    print('what the last recovery found:')
    printRows(world, asked, counts, ['found', 'count'])
    if ((found['vm.stray'] ?? 0) > 0) print('next: skerry cloud vm strays')
    return
  }
  const left = hosts.filter((host) => host.is === 'waited for')
  print(
    `the cloud recovers since ${since?.toISOString()}: ${hosts.length - left.length} of ${hosts.length} hosts are read or waived`,
  )
  printRows(world, asked, hosts, ['id', 'name', 'is', 'seenAt'])
  print(
    left.length === 0
      ? 'next: nothing; a cell that runs ends it within seconds'
      : 'next: bring the others back, or do without one: skerry cloud recover --waive HOST',
  )
}
