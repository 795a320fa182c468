import { isIPv4 } from 'node:net'

import { runTool } from '../host/tool.ts'

interface Neighbour {
  readonly dst: string
  readonly lladdr?: string
}

/**
 * The host's neighbour table for a bridge. Read with ip, because libvirt's access to it (the source
 * 'arp') fails on a host whose table is empty.
 */
async function neighboursOn(bridge: string, mac?: string): Promise<string[]> {
  const listed = await runTool('ip', ['-j', 'neigh', 'show', 'dev', bridge])
  // Entries that did not answer are listed too, but without a MAC address.
  return (JSON.parse(listed.trim() || '[]') as Neighbour[])
    .filter(({ lladdr }) => lladdr !== undefined && (mac === undefined || lladdr === mac))
    .map(({ dst }) => dst)
}

/** The IPv4 addresses last seen for a network card, or for all cards if none is given. */
export async function findNeighbours(bridge: string, mac?: string): Promise<string[]> {
  return (await neighboursOn(bridge, mac)).filter((address) => isIPv4(address))
}

/**
 * Removes a network card from the neighbour table: a starting guest may get another address, and
 * later entries then stem from this start.
 */
export async function forgetNeighbour(bridge: string, mac: string): Promise<void> {
  for (const address of await neighboursOn(bridge, mac)) {
    await runTool('ip', ['neigh', 'del', address, 'dev', bridge])
  }
}
