// Hosts that were revoked or declared lost lose their rows in OVN's databases and their connections.
import type { Engines } from '../engines/engines.ts'
import { removeStrangers } from '../ovn/prefill-southbound.ts'

export interface HostRemoval {
  /** Deletes the rows of hosts that were revoked or declared lost, and ends their connections. */
  readonly forgetHosts: () => Promise<void>
  /** The same, if a host has left since the last call. It asks PostgreSQL only. */
  readonly forgetLeft: () => Promise<void>
}

interface HostRemovalOptions {
  readonly engines: Engines
  /** The ids of the hosts of the zone. */
  readonly readJoined: () => Promise<ReadonlySet<string>>
  /** Whether hosts can connect. */
  readonly isOpen: () => boolean
  readonly log: (message: string) => void
}

export async function makeHostRemoval({
  engines,
  readJoined,
  isOpen,
  log,
}: HostRemovalOptions): Promise<HostRemoval> {
  /** Stays if it fails: with the next call no row is left that would say so. */
  let mustDrop = false
  const forgetHosts = async () => {
    for (const id of await removeStrangers(engines.southbound, readJoined)) {
      log(`host ${id} does not belong to the zone any more: its rows are deleted`)
      mustDrop = true
    }
    // A connection outlives the certificate with which it began. Whose it is is not known, so all of them end.
    if (isOpen() && mustDrop) await engines.dropHosts()
    mustDrop = false
  }
  let joined = await readJoined()
  return {
    forgetHosts,
    async forgetLeft() {
      const now = await readJoined()
      if ([...joined].some((id) => !now.has(id))) await forgetHosts()
      joined = now
    },
  }
}
