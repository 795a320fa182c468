// Traffic of guests over a time in which something happens, and what was lost of it.
import { once } from 'node:events'

import { until } from '@skerry/lab'

import { inDomain } from '../in-guest.ts'
import type { Plugged } from '../link-probes.ts'

/** Generous: guests are emulated, three at a time on few cores. */
export const GUEST_MS = 240_000
const PING_SECONDS = 0.1
const SOME_ANSWERS = 5
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
    return resultOf(said, count)
  }
}

/** Of what ping said, when this many were sent. */
function resultOf(said: string, sent: number): PingResult {
  // An answer may come again, or after later ones.
  const numbers = [...said.matchAll(/ seq=(\d+) /g)].map(([, seq]) => Number(seq))
  const arrived = [...new Set(numbers)].sort((a, b) => a - b)
  const ends = [-1, ...arrived, sent]
  const missing = ends.slice(1).map((seq, at) => seq - (ends[at] ?? 0) - 1)
  const silenceMs = Math.max(...missing) * PING_SECONDS * 1000
  return { sent, lost: sent - arrived.length, silenceMs }
}

/** Pings ten times a second, from the first answer on. The result is there when pings are answered again after it was asked for. */
export async function keepPinging(
  from: Plugged,
  address: string,
): Promise<() => Promise<PingResult>> {
  const file = `/tmp/pings-${address}`
  const untilAnswered = async () => {
    const answers = async () => Number(await inside(from, `grep -c ' seq=' ${file}`))
    const enough = (await answers()) + SOME_ANSWERS
    await until(`${address} answers`, async () => (await answers()) >= enough, GUEST_MS)
  }
  const pings = `ping -i ${PING_SECONDS} ${address} >${file} 2>&1 & echo $! >${file}.pid`
  await inside(from, pings)
  await untilAnswered()
  return async () => {
    await untilAnswered()
    const ended = `kill -INT $(cat ${file}.pid); until grep -q transmitted ${file}; do :; done; cat ${file}`
    const said = await inside(from, ended)
    // Those at the end were not waited for.
    const last = Math.max(...[...said.matchAll(/ seq=(\d+) /g)].map(([, seq]) => Number(seq)))
    return resultOf(said, last + 1)
  }
}

/**
 * How many seconds two guests need to reach each other once both are on. Each begins when its agent answers, and counts by its own
 * clock: its host may be slow to ask it. So one that was on earlier counts the boot of the other too.
 */
export async function secondsToReach(guests: readonly [Plugged, Plugged]): Promise<number> {
  const [one, two] = guests
  const seconds = async (from: Plugged, { address }: Plugged) => {
    const uptime = `cut -d' ' -f1 /proc/uptime`
    const reach = `until ping -c 1 -W 1 ${address} >/dev/null 2>&1; do usleep 100000; done`
    const said = await inside(from, `${uptime}; ${reach}; ${uptime}`)
    const [begun = 0, reached = Infinity] = said.trim().split('\n').map(Number)
    return reached - begun
  }
  return Math.min(...(await Promise.all([seconds(one, two), seconds(two, one)])))
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
