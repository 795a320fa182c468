import { writeFile } from 'node:fs/promises'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'

import { readBlock, type AddressBlock } from '@skerry/vm'

import { bridgeOfNetwork, hostSegment, ORG_BRIDGES } from '../domain/segment.ts'
import { every } from '../every.ts'
import type { Host } from '../host/host.ts'
import type { Paths } from '../host/paths.ts'
import { runTool } from '../host/tool.ts'
import { firewallOf, translationOf, type Family, type RuleChain } from './firewall-rules.ts'

const LOOK_EVERY_MS = 15_000
/** Wait for another program that holds the iptables lock instead of failing. */
const WAIT = ['-w', '10']
/** Serialised, because the rules are read and then changed. No VM id may equal this key. */
const LOCK = 'firewall of the host'

/** Installs the firewall unless it is complete. It may exist before there is a bridge. */
export async function ensureFirewall(host: Host): Promise<void> {
  if (host.hasFirewall) await host.locks.run(LOCK, () => build(host))
}

async function build({ records, paths, metadata, overlay }: Host): Promise<void> {
  const networks = new Set(records.all().map(({ network }) => network))
  const bridges = [...networks].filter((each) => each !== undefined).map(bridgeOfNetwork)
  const around = { bridges, own: ownBlocks(), metadata, outbound: overlay.outbound }
  for (const family of ['iptables', 'ip6tables'] as const) {
    await restore(paths, family, 'filter', firewallOf(family, around))
  }
  const translation = translationOf(around)
  if (translation.length > 0) await restore(paths, 'iptables', 'nat', translation)
}

async function restore(
  paths: Paths,
  family: Family,
  table: Table,
  wanted: readonly RuleChain[],
): Promise<void> {
  const listing = await runTool(family, [...WAIT, ...(table === 'nat' ? NAT : []), '-S'])
  const change = restoreInput(listing, wanted, table)
  if (change === undefined) return
  const file = join(paths.run, `firewall.${family}`)
  await writeFile(file, change, { mode: 0o600 })
  // iptables-restore is atomic: there is no moment with half of the rules.
  await runTool(`${family}-restore`, [...WAIT, '--noflush', file])
}

type Table = 'filter' | 'nat'
const NAT = ['-t', 'nat']
const hooks = { filter: ['INPUT', 'FORWARD'], nat: ['POSTROUTING'] } as const

/** The networks of this machine itself, without those of its guests. */
export function ownBlocks(): AddressBlock[] {
  return Object.entries(networkInterfaces())
    .filter(([name]) => name !== hostSegment.bridge && !name.startsWith(ORG_BRIDGES))
    .flatMap(([, addresses]) => addresses ?? [])
    .filter(({ family, internal }) => family === 'IPv4' && !internal)
    .map(({ cidr }) => readBlock(cidr ?? ''))
}

/**
 * The input for iptables-restore that makes the firewall come first in the listed rules; undefined
 * if it already does.
 */
export function restoreInput(
  listing: string,
  wanted: readonly RuleChain[],
  table: Table = 'filter',
): string | undefined {
  const lines = listing.split('\n')
  const jumps = wanted.flatMap(({ of, chain }) =>
    of ? [{ hook: of.hook, line: `${of.hook} ${of.packets} -j ${chain}` }] : [],
  )
  const areFirst = hooks[table].every((hook) => {
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
    `*${table}`,
    ...wanted.map(({ chain }) => `:${chain} - [0:0]`),
    ...wanted.flatMap(({ chain, rules }) => rules.map((rule) => `-A ${chain} ${rule}`)),
    ...old.map((line) => line.replace(/^-A/, '-D')),
    // Each is inserted at the top, so the last one comes first.
    ...jumps.toReversed().map(({ hook, line }) => `-I ${line.replace(hook, `${hook} 1`)}`),
    'COMMIT\n',
  ].join('\n')
}

/** Other programs also change the host's rules; missing parts of the firewall are restored. */
export function keepFirewall(host: Host, signal: AbortSignal): void {
  if (!host.hasFirewall) return
  every(
    LOOK_EVERY_MS,
    signal,
    () => ensureFirewall(host),
    (error) =>
      host.log('failed to check the firewall between guests and host; it may be incomplete', error),
  )
}
