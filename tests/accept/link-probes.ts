// Packets of every kind from one guest to another, and what arrives at the other's network card.
import { once } from 'node:events'

import { until, type LabHost } from '@skerry/lab'
import { eui64Address } from '@skerry/vm'

import { inDomain } from './in-guest.ts'

/** A running guest, and its network connection. */
export interface Plugged {
  readonly host: LabHost
  readonly domain: string
  readonly mac: string
  readonly address: string
}

/** A neighbour of the target that does not exist: packets with its address look like the target's own network. */
export const spoofOf = ({ address }: Plugged): string => address.replace(/\.\d+$/, '.3')

/** The link-local address that the kernel derives from a card. */
export const linkLocalOf = ({ mac }: Plugged): string => eui64Address('fe80::/64', mac)

const PROBES_MS = 90_000

/**
 * Sends from inside: ICMP, TCP and UDP over the guest's route; the same directly to the other's card; ARP; IPv6 and multicast;
 * and all of it with a source address of the other's network, directly and through the gateway. Responses are awaited for at most
 * a second.
 */
export async function probe({ host, domain }: Plugged, target: Plugged): Promise<void> {
  const { address, mac } = target
  const script = `
    i=$(ls /sys/class/net | grep ^e | head -n 1)
    gateway=$(ip route | awk '/^default/ { print $3 }')
    send() {
      ping -c 1 -W 1 ${address} & nc -w 1 ${address} 22 -e true & timeout 1 tftp -g -l /dev/null -r x ${address} &
      wait
    }
    straight() { ip route add ${address}/32 dev $i $*; arp -i $i -s ${address} ${mac}; }
    back() { arp -i $i -d ${address}; ip route del ${address}/32; }
    send
    arping -c 1 -w 1 -I $i ${address}
    ip address add ${address}/32 dev lo
    arping -U -c 1 -w 1 -I $i ${address} & arping -A -c 1 -w 1 -I $i ${address} & wait
    ip address del ${address}/32 dev lo
    straight; send; back
    ip route add 224.0.0.0/4 dev $i
    ping6 -c 1 -W 1 -I $i ${linkLocalOf(target)} & ping6 -c 1 -W 1 -I $i ff02::1 & ping -c 1 -W 1 224.0.0.1 & ping -c 1 -W 1 255.255.255.255 & wait
    ip route del 224.0.0.0/4
    ip address add ${spoofOf(target)}/24 dev $i
    straight src ${spoofOf(target)}; send; back
    ip route add ${address}/32 via $gateway src ${spoofOf(target)}
    send
    ip route del ${address}/32
    ip address del ${spoofOf(target)}/24 dev $i`
  await inDomain(host, domain, `{ ${script}\n} >/dev/null 2>&1`, PROBES_MS)
}

export interface Capture extends AsyncDisposable {
  /** Every frame sent to the guest so far, one per line. */
  frames(): Promise<readonly string[]>
}

/** On a quiet link: a marker from the host; no older frame can arrive after it. */
const FIRST_MARK = 40_000
const MARK_MS = 60_000
const MARK_AGAIN_MS = 200

/** Everything that its host sends to a guest's network card. */
export async function capture({ host, domain, address }: Plugged): Promise<Capture> {
  const { stdout } = await host.run(['virsh', '-q', 'domiflist', domain])
  const tap = stdout.trim().split(/\s+/)[0] ?? ''
  const words = ['tcpdump', '-i', tap, '-Q', 'out', '-e', '-n', '-l', '--immediate-mode']
  const child = host.spawn(words, { stdio: ['ignore', 'pipe', 'pipe'] })
  let [seen, said] = ['', '']
  child.stdout?.on('data', (chunk: Buffer) => (seen += chunk.toString()))
  child.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()))
  await until(`tcpdump listens at ${tap}`, () => said.includes('listening on'))
  let marks = FIRST_MARK
  return {
    async frames() {
      marks += 1
      // Sent again until it arrives: the host may have to find the guest's card first, whose address another guest has claimed.
      const isSeen = async () => {
        await host.run(['bash', '-c', `echo >/dev/udp/${address}/${marks}`])
        return seen.includes(`> ${address}.${marks}: `)
      }
      await until(`the marker is seen at ${tap}`, isSeen, MARK_MS, MARK_AGAIN_MS)
      const isMark = new RegExp(`> ${address}\\.4\\d{4}: UDP`)
      return seen.split('\n').filter((frame) => frame !== '' && !isMark.test(frame))
    },
    async [Symbol.asyncDispose]() {
      const closed = once(child, 'close')
      child.kill('SIGTERM')
      await closed
    },
  }
}

/** The frames that must have arrived if a guest can reach the other, by name. */
export function kindsOf(frames: readonly string[], from: Plugged, to: Plugged) {
  const way = (source: string) => `${source}(?:\\.\\d+)? > ${to.address}`
  const [own, spoofed] = [way(from.address), way(spoofOf(to))]
  const kinds = {
    icmp: `${own}: ICMP echo request`,
    tcp: `${own}\\.22: Flags \\[S\\]`,
    udp: `${own}\\.69: `,
    arp: `ARP.*who-has ${to.address} .*tell ${from.address}`,
    'arp as the other': `${from.mac} > .*ARP.*(?:Announcement ${to.address}|who-has ${to.address} .*tell ${to.address}\\b|Reply ${to.address} is-at)`,
    ipv6: `> ${linkLocalOf(to)}: ICMP6, echo request`,
    'ipv6 multicast': '> ff02::1: ICMP6, echo request',
    multicast: '> 224\\.0\\.0\\.1: ICMP echo request',
    broadcast: '> 255\\.255\\.255\\.255: ICMP echo request',
    'icmp, spoofed': `${spoofed}: ICMP echo request`,
    'tcp, spoofed': `${spoofed}\\.22: Flags \\[S\\]`,
    'udp, spoofed': `${spoofed}\\.69: `,
  }
  return Object.fromEntries(
    Object.entries(kinds).map(([kind, pattern]) => [
      kind,
      frames.filter((frame) => new RegExp(pattern).test(frame)).length,
    ]),
  )
}
