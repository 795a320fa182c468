import { readFile } from 'node:fs/promises'

import * as libvirt from '@skerry/libvirt'

import type { Host } from '../host/host.ts'
import { dhcpPidFile } from '../host/paths.ts'
import { saysLibvirt } from '../host/to-fault.ts'
import { lookUpNetwork } from './network.ts'

/**
 * Makes the DHCP server of a network drop entries whose files are gone. By itself it notices only
 * new files, and rejects a new entry for an address that a stale entry has.
 */
export async function rereadEntries({ paths, log }: Host, network: string): Promise<void> {
  try {
    const pid = Number(await readFile(dhcpPidFile(paths, network), 'utf8'))
    const name = await readFile(`/proc/${pid}/comm`, 'utf8')
    if (name === 'dnsmasq\n') process.kill(pid, 'SIGHUP')
  } catch (error) {
    // If it does not run, it reads all entries when it starts.
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ESRCH') return
    log(`the DHCP server of the network ${network} still has a stale entry`, error)
  }
}

/**
 * The addresses that are leased: the server gives such an address to no other client for an hour,
 * regardless of the entries. The lease of the card `besides` is left out.
 */
export async function leasedOn(
  { link }: Host,
  network: string,
  besides?: string,
): Promise<ReadonlySet<string>> {
  const net = await lookUpNetwork(link, network)
  if (!net) return new Set()
  try {
    const all = { net, mac: null, needResults: 1, flags: 0 }
    const { leases } = await link.call(libvirt.networkGetDhcpLeases, all)
    return new Set(leases.filter(({ mac }) => mac !== besides).map(({ ipaddr }) => ipaddr))
  } catch (error) {
    // The in-memory driver has no DHCP server.
    if (saysLibvirt(error, libvirt.ErrorCode.noSupport)) return new Set()
    throw error
  }
}
