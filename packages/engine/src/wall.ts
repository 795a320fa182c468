import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import type { Host } from './host.ts'
import { BRIDGE, HOST_ADDRESS } from './network.ts'
import type { Paths } from './paths.ts'
import { runTool } from './tool.ts'

const CHAIN = 'SKERRY_GUESTS'
const LOOK_EVERY_MS = 15_000
/** Another program that is at the rules just now is waited for, not failed at. */
const WAIT = ['-w', '10']

type Family = 'iptables' | 'ip6tables'

/**
 * The wall between guests and their host, as the rules of its own chain in the form in which
 * iptables prints them. It only takes away: what it lets by still meets the host's other rules.
 * A guest is refused rather than ignored, so that a program in it fails at once; that is the answer
 * of a closed port, so it does not tell which ports are open.
 */
const rules: Readonly<Record<Family, readonly string[]>> = {
  iptables: [
    '-m conntrack --ctstate ESTABLISHED -j RETURN',
    '-p icmp -m conntrack --ctstate RELATED -j RETURN',
    '-d 255.255.255.255/32 -p udp -m udp --dport 67 -j RETURN',
    `-d ${HOST_ADDRESS}/32 -p udp -m udp --dport 67 -j RETURN`,
    `-d ${HOST_ADDRESS}/32 -p udp -m udp --dport 53 -j RETURN`,
    `-d ${HOST_ADDRESS}/32 -p tcp -m tcp --dport 53 -j RETURN`,
    '-p tcp -j REJECT --reject-with tcp-reset',
    '-j REJECT --reject-with icmp-port-unreachable',
  ],
  ip6tables: ['-m conntrack --ctstate ESTABLISHED -j RETURN', '-j DROP'],
}

const JUMP = `-i ${BRIDGE} -j ${CHAIN}`

/** Puts the wall up where it is not whole. It may stand before there is a bridge. */
export async function ensureWall(paths: Paths): Promise<void> {
  for (const family of ['iptables', 'ip6tables'] as const) {
    const change = mend(await runTool(family, [...WAIT, '-S']), rules[family])
    if (change === undefined) continue
    const file = join(paths.run, `wall.${family}`)
    await writeFile(file, change, { mode: 0o600 })
    // All of it at once, or nothing: there is no moment with half a wall.
    await runTool(`${family}-restore`, [...WAIT, '--noflush', file])
  }
}

/**
 * What must be fed to iptables-restore to make the listed rules contain the wall, first of all; or
 * undefined when they do.
 */
export function mend(listing: string, wanted: readonly string[]): string | undefined {
  const lines = listing.split('\n')
  const own = lines.filter((line) => line.startsWith(`-A ${CHAIN} `))
  const input = lines.filter((line) => line.startsWith('-A INPUT '))
  const jumps = input.filter((line) => line === `-A INPUT ${JUMP}`)
  const isFirst = input[0] === jumps[0] && jumps.length === 1
  const isWhole = own.join('\n') === wanted.map((rule) => `-A ${CHAIN} ${rule}`).join('\n')
  if (isFirst && isWhole) return undefined
  return [
    '*filter',
    `:${CHAIN} - [0:0]`,
    ...wanted.map((rule) => `-A ${CHAIN} ${rule}`),
    ...jumps.map(() => `-D INPUT ${JUMP}`),
    `-I INPUT 1 ${JUMP}`,
    'COMMIT\n',
  ].join('\n')
}

/** Other programs rewrite the host's rules too; what they took of the wall is put back. */
export function keepWall(host: Host, signal: AbortSignal): void {
  let looking = false
  const timer = setInterval(() => {
    if (looking) return
    looking = true
    ensureWall(host.paths)
      .catch((error: unknown) => host.note('the wall between guests and host may be down', error))
      .finally(() => (looking = false))
  }, LOOK_EVERY_MS)
  timer.unref()
  signal.addEventListener('abort', () => clearInterval(timer), { once: true })
}
