import { readFile } from 'node:fs/promises'

import * as libvirt from '@skerry/libvirt'

import type { Host } from './host.ts'
import { lookUpNetwork } from './network.ts'
import { dhcpPidFile } from './paths.ts'
import { saysLibvirt } from './to-fault.ts'

/**
 * Makes the DHCP server of a network forget the entries that are gone. By itself it hears only of
 * new ones, and refuses one for an address that an entry of old has.
 */
export async function rereadEntries({ paths, note }: Host, network: string): Promise<void> {
  try {
    const pid = Number(await readFile(dhcpPidFile(paths, network), 'utf8'))
    const name = await readFile(`/proc/${pid}/comm`, 'utf8')
    if (name === 'dnsmasq\n') process.kill(pid, 'SIGHUP')
  } catch (error) {
    // Where it does not run, it reads them all when it starts.
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ESRCH') return
    note(`the DHCP server of the network ${network} keeps an old entry`, error)
  }
}

/** What it has lent and not got back: for an hour nobody else is given that, whatever the entries say. */
export async function leasedOn({ link }: Host, network: string): Promise<ReadonlySet<string>> {
  const net = await lookUpNetwork(link, network)
  if (!net) return new Set()
  try {
    const all = { net, mac: null, needResults: 1, flags: 0 }
    const { leases } = await link.call(libvirt.networkGetDhcpLeases, all)
    return new Set(leases.map(({ ipaddr }) => ipaddr))
  } catch (error) {
    // The in-memory driver has no such server.
    if (saysLibvirt(error, libvirt.ErrorCode.noSupport)) return new Set()
    throw error
  }
}
