import { createHash } from 'node:crypto'

import type { Card } from './vm.ts'

/** The network of an organisation has the same name on every host; the name does not reveal the organisation. */
export const networkOf = (org: string): string =>
  `skerry-${createHash('sha256').update(org).digest('hex').slice(0, 10)}`

/** The block of all organisation networks, a /24 each. */
export const ORGS_BLOCK = '10.84.0.0/14'
/** The fixed VM addresses of a /24: after the host and the DHCP range. */
export const FIRST_FIXED = 32
export const LAST_FIXED = 254

const OCTET = '(?:0|[1-9][0-9]?|1[0-9]{2}|2[0-4][0-9]|25[0-5])'
const KEPT = new RegExp(`^10\\.8[4-7]\\.${OCTET}\\.(${OCTET})$`)

export const isOrgNetwork = (network: string): boolean => /^skerry-[0-9a-f]{10}$/.test(network)

/** Whether a host can have assigned this card to an organisation's VM; it does not check whose network it is. */
export function cardCounts({ network, mac, address }: Card): boolean {
  const last = Number(KEPT.exec(address)?.[1] ?? 0)
  return (
    isOrgNetwork(network) &&
    /^52(?::[0-9a-f]{2}){5}$/.test(mac) &&
    last >= FIRST_FIXED &&
    last <= LAST_FIXED
  )
}
