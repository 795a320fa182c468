import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { outbound } from '../domain/segment.ts'
import type { Host } from '../host/host.ts'
import { runTool } from '../host/tool.ts'

/**
 * Answers DNS queries of networks across hosts with the host's own resolvers, as libvirt does for each of its networks. The server
 * outlives this process.
 */
export async function ensureOutboundDns({ paths }: Host): Promise<void> {
  const file = join(paths.run, 'outbound-dns.pid')
  const words = [
    `--pid-file=${file}`,
    // No configuration of the machine's own.
    '--conf-file=/dev/null',
    '--no-hosts',
    `--listen-address=${outbound.address}`,
    `--interface=${outbound.bridge}`,
    `--no-dhcp-interface=${outbound.bridge}`,
    '--except-interface=lo',
    '--bind-interfaces',
    // A name without a domain is none of the site's.
    '--domain-needed',
    '--bogus-priv',
  ]
  if (!(await runs(file, words))) await runTool('dnsmasq', words)
}

/** The file outlives the process, and its number may belong to another one by now. */
async function runs(file: string, words: readonly string[]): Promise<boolean> {
  const pid = await readFile(file, 'utf8').catch(() => '')
  const command = await readFile(`/proc/${pid.trim()}/cmdline`, 'utf8').catch(() => '')
  return pid !== '' && words.every((word) => command.includes(word))
}
