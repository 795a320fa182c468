import { fixAddress, freeAddress } from './fixed-address.ts'
import type { Host } from './host.ts'
import { dropUnusedNetworks } from './org-network.ts'
import { readPowerOf } from './read-power.ts'
import { redefine } from './redefine.ts'
import { networkOf } from './segment.ts'
import { findSettled } from './under-way.ts'

/**
 * Puts a cloud's VM on the network of its organisation, where it is not: an older version made it on
 * the host's own, or it was given to another organisation. Only while it is off; one that runs, or
 * has memory to come back to, stays where it is until then.
 */
export function joinNetwork(host: Host, id: string, org: string): Promise<void> {
  const network = networkOf(org)
  return host.turns.take(id, async () => {
    if (host.records.get(id, 'cloud')?.network === network) return
    const { record, dom } = await findSettled(host, id, 'cloud')
    if ((await readPowerOf(host, dom)).power !== 'off') return
    await freeAddress(host, record)
    const joined = await host.records.write(await fixAddress(host, { ...record, network }))
    await redefine(host, { record: joined, dom }, {})
    await dropUnusedNetworks(host)
  })
}
