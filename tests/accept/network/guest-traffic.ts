// Traffic of guests over a time in which something happens, and what was lost of it.
import { once } from 'node:events'

import { until } from '@skerry/lab'

import { inDomain } from '../in-guest.ts'
import type { Plugged } from '../link-probes.ts'

/** Generous: guests are emulated, three at a time on few cores. */
export const GUEST_MS = 240_000
const PING_SECONDS = 0.1
/** The port of a server in a guest that returns each line. */
const ECHO_PORT = 7

export const inside = ({ host, domain }: Plugged, script: string): Promise<string> =>
  inDomain(host, domain, script, GUEST_MS)

export interface PingResult {
  readonly sent: number
  readonly lost: number
  /** The longest time without a response. */
  readonly silenceMs: number
}

/** Begins to ping, ten times a second. The result is there when all were sent. */
export async function beginPings(
  from: Plugged,
  address: string,
  count: number,
): Promise<() => Promise<PingResult>> {
  const file = `/tmp/ping-${address}`
  await inside(from, `ping -i ${PING_SECONDS} -c ${count} -W 5 ${address} >${file} 2>&1 &`)
  return async () => {
    const said = await until(
      `the pings to ${address} have ended`,
      async () => {
        const text = await inside(from, `cat ${file}`)
        return text.includes(' packets transmitted') && text
      },
      GUEST_MS,
    )
    const arrived = [...said.matchAll(/ seq=(\d+) /g)].map(([, seq]) => Number(seq))
    const ends = [-1, ...arrived, count]
    const missing = ends.slice(1).map((seq, at) => seq - (ends[at] ?? 0) - 1)
    const silenceMs = Math.max(...missing) * PING_SECONDS * 1000
    return { sent: count, lost: count - new Set(arrived).size, silenceMs }
  }
}

/** Begins a TCP connection from one guest to another, with a line ten times a second. The result: whether every line came back, in order. */
export async function beginConnection(
  from: Plugged,
  to: Plugged,
  lines: number,
): Promise<() => Promise<boolean>> {
  await inside(to, `nc -ll -p ${ECHO_PORT} -e cat >/dev/null 2>&1 &`)
  const speak = `i=0; while [ $i -lt ${lines} ]; do echo $i; i=$((i+1)); sleep ${PING_SECONDS}; done; sleep 5`
  await inside(
    from,
    `{ { ${speak}; } | nc ${to.address} ${ECHO_PORT} >/tmp/lines; echo end >/tmp/lines-end; } >/dev/null 2>&1 &`,
  )
  return async () => {
    const heard = await until(
      'the connection has ended',
      async () => {
        const text = await inside(from, 'cat /tmp/lines-end && cat /tmp/lines')
        return text.startsWith('end') && text
      },
      GUEST_MS,
    )
    const expected = Array.from({ length: lines }, (_, at) => String(at))
    return heard.trim() === ['end', ...expected].join('\n')
  }
}

/**
 * Everything that passes between its host and a guest's card meanwhile: `out` to the guest, `in` from it. Waits for the wanted
 * ones: tcpdump reads a frame later than the guest, and ends without those that it has not read.
 */
export async function framesOf(
  { host, domain }: Plugged,
  way: 'in' | 'out',
  wanted: readonly string[],
  act: () => Promise<unknown>,
): Promise<string[]> {
  const { stdout } = await host.run(['virsh', '-q', 'domiflist', domain])
  const tap = stdout.trim().split(/\s+/)[0] ?? ''
  const words = ['tcpdump', '-i', tap, '-Q', way, '-e', '-n', '-l', '--immediate-mode']
  const child = host.spawn(words, { stdio: ['ignore', 'pipe', 'pipe'] })
  let [seen, reported] = ['', '']
  child.stdout?.on('data', (chunk: Buffer) => (seen += chunk.toString()))
  child.stderr?.on('data', (chunk: Buffer) => (reported += chunk.toString()))
  await until(`tcpdump listens at ${tap}`, () => reported.includes('listening on'), GUEST_MS)
  await act()
  for (const each of wanted) await until(`${each} at ${tap}`, () => seen.includes(each), GUEST_MS)
  const ended = once(child, 'close')
  child.kill('SIGINT')
  await ended
  return seen.trim().split('\n')
}
