// Guests on a network with IPv6: the network, and what they can reach.
import assert from 'node:assert/strict'

import { until } from '@skerry/lab'
import { attribute, childrenByLocalName } from '@skerry/xml'

import type { CloudClient } from '../../../apps/cloud/test/cloud-client.ts'
import type { Plugged } from '../link-probes.ts'
import { framesOf, GUEST_MS, inside } from './guest-traffic.ts'

/** The largest packet of a guest where hosts have 1,500 bytes. */
export const MTU = 1_442
/** The router of the world. */
export const WORLD = '198.51.100.1'
/** The name of a guest's card, for its shell. */
export const CARD = '$(ls /sys/class/net | grep ^e | head -n 1)'

/** A guest on a network that may have IPv6; without it the text is empty. */
export interface DualGuest extends Plugged {
  readonly ipv6: string
}

/** The default network of the organisation, as the first VM would make it, and with IPv6. */
export async function addDualNetwork(olga: CloudClient): Promise<void> {
  const [org] = childrenByLocalName(await olga.get('/api/org'), 'Org')
  const links = childrenByLocalName(await olga.get(attribute(org, 'href') ?? ''), 'Link')
  const vdc = links.find((each) => attribute(each, 'type')?.includes('.vdc+xml') === true)
  const scope = `<IpScope><Gateway>10.84.0.1</Gateway><Netmask>255.255.240.0</Netmask><Dns1>${WORLD}</Dns1></IpScope>`
  const body =
    `<OrgVdcNetwork name="default"><Configuration><IpScopes>${scope}</IpScopes><FenceMode>natRouted</FenceMode></Configuration>` +
    '<IsIpv6Enabled>true</IsIpv6Enabled></OrgVdcNetwork>'
  const id = attribute(vdc, 'href')?.slice(-36)
  const made = await olga.ask('POST', `/api/admin/vdc/${id}/networks`, { body })
  assert.equal(made.status, 201, made.text)
}

const ownIpv6 = (guest: Plugged) => inside(guest, `ip -6 -o address show dev ${CARD}`)

/** Guests of one organisation reach each other by IPv6 and by name; the guest of another, whose network has none, sends none. */
export async function requireIpv6(
  guests: readonly [DualGuest, DualGuest],
  green: DualGuest,
): Promise<void> {
  const [one, two] = guests
  for (const guest of guests) {
    const has = async () => (await ownIpv6(guest)).includes(` ${guest.ipv6}/64 `)
    await until(`${guest.domain} has ${guest.ipv6}`, has, GUEST_MS)
  }
  const ping6 = (from: Plugged, address: string, size = 56) =>
    inside(from, `ping6 -c 3 -W 5 -s ${size} ${address}; true`)
  const isReached = async () => (await ping6(one, two.ipv6)).includes('3 packets received')
  await until(`${two.ipv6} is reached`, isReached, GUEST_MS)
  const isWhole = async () => (await ping6(two, one.ipv6, MTU - 48)).includes('3 packets received')
  await until(`${one.ipv6} is reached by the largest packet`, isWhole, GUEST_MS)
  const areFound = async () => {
    const found = await inside(one, `nslookup small ${WORLD}`)
    return guests.every(({ ipv6 }) => found.includes(ipv6))
  }
  await until('both are found by name', areFound, GUEST_MS)
  // The other organisation’s network has none: its guest hears no prefix, and what it sends ends at its card.
  assert.equal(green.ipv6, '')
  assert.doesNotMatch(await ownIpv6(green), / fd/)
  const to = `${one.ipv6}/128 dev ${CARD}`
  const asked = `${green.mac} > 33:33:ff`
  const frames = await framesOf(one, 'out', [`> ${one.ipv6}`], async () => {
    await framesOf(green, 'in', [asked], async () => {
      const script = `ip -6 route add ${to}; ping6 -c 2 -W 2 ${one.ipv6}; ip -6 route del ${to}`
      assert.doesNotMatch(await inside(green, script), /bytes from/)
    })
    await ping6(two, one.ipv6)
  })
  assert.deepEqual(
    frames.filter((frame) => frame.includes(green.mac)),
    [],
  )
}
