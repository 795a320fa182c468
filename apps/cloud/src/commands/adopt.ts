import { hostAdmin, type Args } from '@skerry/command-line'
import { Fault } from '@skerry/fault'
import { isUuid, type HostId, type VmId } from '@skerry/vm'

import { maybe, printRows, runs, type AdminCommand } from '../command-line/command.ts'
import { withStore } from '../command-line/with-store.ts'
import { adoptHost, adoptVm, type AdoptContext } from '../hosts/adopt.ts'
import { HostLinks } from '../hosts/connect.ts'
import { readIdentity } from '../identity/issuers.ts'
import { listOrphans } from '../recovery/orphans.ts'

/** These commands connect to hosts directly, with the identity of the cell on this machine. */
const withHosts = <T>(requested: Args, work: (context: AdoptContext) => Promise<T>): Promise<T> =>
  withStore(requested, async (db, config) => {
    const { cell, trusted } = await readIdentity(config.identity)
    using links = new HostLinks(db, () => ({ ...cell, ca: trusted.hosts }))
    return await work({ db, connect: (host) => links.of(host) })
  })

function idOf(text: string | undefined, hint: string): string {
  if (text !== undefined && isUuid(text)) return text
  throw new Fault('invalid', `invalid id: ${text ?? ''}`, { hint })
}

const orphans = runs(hostAdmin.listOrphans, (context, requested) =>
  withStore(requested, async (db) => {
    const rows = (await listOrphans(db)).map((each) => ({ ...each }))
    printRows(context, requested, rows, ['vm', 'host', 'hostName', 'found'])
  }),
)

const adopt = runs(hostAdmin.adoptVm, ({ print }, requested) =>
  withHosts(requested, async (context) => {
    const vm = idOf(requested.words[0], 'skerry admin orphan list') as VmId
    const [host, org, vapp, name] = (['host', 'org', 'vapp', 'name'] as const).map((option) =>
      maybe(requested, option),
    )
    const made = await adoptVm(context, {
      vm,
      ...(host !== undefined && { host: idOf(host, 'skerry admin host list') as HostId }),
      ...(org !== undefined && { org }),
      ...(vapp !== undefined && { vapp }),
      ...(name !== undefined && { name }),
    })
    print(
      requested.json
        ? JSON.stringify(made)
        : `adopted VM ${vm} on host ${made.host} into vApp ${made.vapp}`,
    )
  }),
)

const adoptAHost = runs(hostAdmin.adopt, ({ print }, requested) =>
  withHosts(requested, async (context) => {
    const host = idOf(requested.words[0], 'skerry admin host list') as HostId
    const missing = await adoptHost(context, host)
    print(
      requested.json
        ? JSON.stringify({ host, missing })
        : `adopted host ${host} in its current state; ${missing} of its VMs are missing`,
    )
  }),
)

export const adoption: readonly AdminCommand[] = [adoptAHost, orphans, adopt]
