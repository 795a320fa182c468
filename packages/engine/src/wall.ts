import { writeFile } from 'node:fs/promises'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'

import type { Host } from './host.ts'
import { readBlock, type Block } from './ipv4.ts'
import { bridgeOfNetwork, hostSegment, ORG_BRIDGES } from './segment.ts'
import { runTool } from './tool.ts'
import { wallOf, type Part } from './wall-rules.ts'

const LOOK_EVERY_MS = 15_000
/** Another program that is at the rules just now is waited for, not failed at. */
const WAIT = ['-w', '10']
/** What is read here is changed a moment later, so one at a time. No VM may be called so. */
const TURN = 'the wall'

/** Puts the wall up where it is not whole. It may stand before there is a bridge. */
export async function ensureWall(host: Host): Promise<void> {
  if (host.hasWall) await host.turns.take(TURN, () => build(host))
}

async function build({ records, paths }: Host): Promise<void> {
  const networks = new Set(records.all().map(({ network }) => network))
  const bridges = [...networks].filter((each) => each !== undefined).map(bridgeOfNetwork)
  for (const family of ['iptables', 'ip6tables'] as const) {
    const wanted = wallOf(family, { bridges, own: ownBlocks() })
    const change = mend(await runTool(family, [...WAIT, '-S']), wanted)
    if (change === undefined) continue
    const file = join(paths.run, `wall.${family}`)
    await writeFile(file, change, { mode: 0o600 })
    // All of it at once, or nothing: there is no moment with half a wall.
    await runTool(`${family}-restore`, [...WAIT, '--noflush', file])
  }
}

/** The networks that this machine itself is in, beside those of its guests. */
export function ownBlocks(): Block[] {
  return Object.entries(networkInterfaces())
    .filter(([name]) => name !== hostSegment.bridge && !name.startsWith(ORG_BRIDGES))
    .flatMap(([, addresses]) => addresses ?? [])
    .filter(({ family, internal }) => family === 'IPv4' && !internal)
    .map(({ cidr }) => readBlock(cidr ?? ''))
}

/**
 * What must be fed to iptables-restore to make the listed rules contain the wall, first of all; or
 * undefined when they do.
 */
export function mend(listing: string, wanted: readonly Part[]): string | undefined {
  const lines = listing.split('\n')
  const jumps = wanted.flatMap(({ of, chain }) =>
    of ? [{ hook: of.hook, line: `${of.hook} ${of.packets} -j ${chain}` }] : [],
  )
  const areFirst = (['INPUT', 'FORWARD'] as const).every((hook) => {
    const own = jumps.filter((each) => each.hook === hook).map(({ line }) => `-A ${line}`)
    const there = lines.filter((line) => line.startsWith(`-A ${hook} `))
    const last = there.findLastIndex((line) => own.includes(line))
    return last + 1 === own.length && own.every((line, at) => there[at] === line)
  })
  const areWhole = wanted.every(
    ({ chain, rules }) =>
      lines.filter((line) => line.startsWith(`-A ${chain} `)).join('\n') ===
      rules.map((rule) => `-A ${chain} ${rule}`).join('\n'),
  )
  if (areFirst && areWhole) return undefined
  const old = lines.filter((line) => jumps.some((jump) => line === `-A ${jump.line}`))
  return [
    '*filter',
    ...wanted.map(({ chain }) => `:${chain} - [0:0]`),
    ...wanted.flatMap(({ chain, rules }) => rules.map((rule) => `-A ${chain} ${rule}`)),
    ...old.map((line) => line.replace(/^-A/, '-D')),
    // Each goes before those that are there, so the last comes first.
    ...jumps.toReversed().map(({ hook, line }) => `-I ${line.replace(hook, `${hook} 1`)}`),
    'COMMIT\n',
  ].join('\n')
}

/** Other programs rewrite the host's rules too; what they took of the wall is put back. */
export function keepWall(host: Host, signal: AbortSignal): void {
  if (!host.hasWall) return
  let looking = false
  const timer = setInterval(() => {
    if (looking) return
    looking = true
    ensureWall(host)
      .catch((error: unknown) => host.note('the wall between guests and host may be down', error))
      .finally(() => (looking = false))
  }, LOOK_EVERY_MS)
  timer.unref()
  signal.addEventListener('abort', () => clearInterval(timer), { once: true })
}
