import { isIPv4 } from 'node:net'

import { runTool } from './tool.ts'

interface Neighbour {
  readonly dst: string
  readonly lladdr?: string
}

/**
 * The host's own table of whom it has spoken with on a bridge. Read by ip, because libvirt's way to
 * it (the source 'arp') fails on a host whose table is empty.
 */
async function neighboursOn(bridge: string, mac: string): Promise<string[]> {
  const listed = await runTool('ip', ['-j', 'neigh', 'show', 'dev', bridge])
  // Who did not answer is listed too, but without the address of a card.
  return (JSON.parse(listed.trim() || '[]') as Neighbour[])
    .filter(({ lladdr }) => lladdr === mac)
    .map(({ dst }) => dst)
}

/** The address that a network card was last seen with. */
export async function findNeighbour(bridge: string, mac: string): Promise<string | undefined> {
  return (await neighboursOn(bridge, mac)).find((address) => isIPv4(address))
}

/**
 * Makes the host forget what address a network card had: a guest that starts may get another, and
 * what the table says afterwards, the host has seen of this start.
 */
export async function forgetNeighbour(bridge: string, mac: string): Promise<void> {
  for (const address of await neighboursOn(bridge, mac)) {
    await runTool('ip', ['neigh', 'del', address, 'dev', bridge])
  }
}
