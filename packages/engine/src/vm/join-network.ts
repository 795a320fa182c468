import { redefine } from '../disk/redefine.ts'
import { readPowerOf } from '../domain/read-power.ts'
import { networkOf } from '../domain/segment.ts'
import type { Host } from '../host/host.ts'
import { fixAddress, freeAddress } from '../network/fixed-address.ts'
import { dropUnusedNetworks } from '../network/org-network.ts'
import { findSettled } from '../recover/pending-change.ts'

/**
 * Moves a cloud VM to the network of its organisation if it is not there: an older version created
 * it on the host's own network, or it changed its organisation. Only while the VM is off; a running
 * or suspended VM stays where it is until then.
 */
export function joinNetwork(host: Host, id: string, org: string): Promise<void> {
  const network = networkOf(org)
  return host.locks.run(id, async () => {
    if (host.records.get(id, 'cloud')?.network === network) return
    const { record, dom } = await findSettled(host, id, 'cloud')
    if ((await readPowerOf(host, dom)).power !== 'off') return
    await freeAddress(host, record)
    const joined = await host.records.write(await fixAddress(host, { ...record, network }))
    await redefine(host, { record: joined, dom }, {})
    await dropUnusedNetworks(host)
  })
}
