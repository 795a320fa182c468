// Settings of OVN's control plane on a machine of our own: two databases, and the program that compiles one into the other.
import { join } from 'node:path'

/** Where the control plane of one zone has its files. No other user may enter the directory. */
export interface OvnPlace {
  readonly directory: string
  /** PEM files for hosts: the key and certificate of this server, and the issuers of theirs. */
  readonly tls: { readonly key: string; readonly certificate: string; readonly ca: string }
}

export const ovnSchemas = {
  northbound: '/usr/share/ovn/ovn-nb.ovsschema',
  southbound: '/usr/share/ovn/ovn-sb.ovsschema',
} as const

/** Debian's programs; sbin is not in every PATH. */
export const ovnPrograms = {
  database: '/usr/sbin/ovsdb-server',
  databaseTool: '/usr/bin/ovsdb-tool',
  control: '/usr/bin/ovs-appctl',
  northd: '/usr/bin/ovn-northd',
} as const

/** The argument by which a database accepts hosts, as its table of connections says. */
export const ovnHostsRemote = 'db:OVN_Southbound,SB_Global,connections'

export const ovnFiles = (directory: string) => ({
  northbound: join(directory, 'nb.db'),
  southbound: join(directory, 'sb.db'),
  northboundSocket: join(directory, 'nb.sock'),
  southboundSocket: join(directory, 'sb.sock'),
  northboundControl: join(directory, 'nb.ctl'),
  southboundControl: join(directory, 'sb.ctl'),
  northdControl: join(directory, 'northd.ctl'),
})

/** In the foreground, with warnings on standard error. That it was stopped is none. */
const logging = ['-vconsole:warn', '-vsyslog:off', '-vfile:off', '-vfatal_signal:console:off']

/** Command-line arguments of the northbound database: a Unix socket and no port. */
export function northboundWords({ directory }: OvnPlace): string[] {
  const at = ovnFiles(directory)
  const listens = [`--remote=punix:${at.northboundSocket}`, `--unixctl=${at.northboundControl}`]
  return [at.northbound, ...listens, ...logging]
}

/** Of the southbound database: it begins without a port, and is opened to hosts later. */
export function southboundWords({ directory, tls }: OvnPlace): string[] {
  const at = ovnFiles(directory)
  return [
    at.southbound,
    `--remote=punix:${at.southboundSocket}`,
    `--unixctl=${at.southboundControl}`,
    `--private-key=${tls.key}`,
    `--certificate=${tls.certificate}`,
    `--ca-cert=${tls.ca}`,
    '--ssl-protocols=TLSv1.2',
    ...logging,
  ]
}

export function northdWords({ directory }: OvnPlace): string[] {
  const at = ovnFiles(directory)
  return [
    `--ovnnb-db=unix:${at.northboundSocket}`,
    `--ovnsb-db=unix:${at.southboundSocket}`,
    `--unixctl=${at.northdControl}`,
    ...logging,
  ]
}
