// A host that was taken over: it has its own overlay certificate, and asks the southbound database for what is another's.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import type { LabHost } from '@skerry/lab'

interface AttackPlace {
  /** The host that was taken over, and the address of the database. */
  readonly host: LabHost
  readonly remote: string
}

/** The files of the host's certificate for the database. */
function certificateOf(host: LabHost): readonly string[] {
  const directory = join(host.dir, 'skerry/cloud/overlay')
  const at = join(directory, readFileSync(join(directory, 'current'), 'utf8').trim())
  return [
    '-p',
    join(at, 'key.pem'),
    '-c',
    join(at, 'certificate.pem'),
    '-C',
    join(at, 'issuers.pem'),
  ]
}

/** Sends commands of ovn-sbctl in one transaction. */
export const askSouthbound = ({ host, remote }: AttackPlace, words: readonly string[]) =>
  host.run([
    'ovn-sbctl',
    '--no-leader-only',
    '--timeout=20',
    '--bare',
    `--db=${remote}`,
    ...certificateOf(host),
    '--',
    ...words,
  ])

/** With the certificate by which cells know the host, which is of another issuer. */
export function askAsHost({ host, remote }: AttackPlace) {
  const at = (file: string) => join(host.dir, 'skerry/cloud', file)
  const own = ['-p', at('key.pem'), '-c', at('certificate.pem'), '-C', at('issuers.pem')]
  return host.run([
    'ovn-sbctl',
    '--no-leader-only',
    '--timeout=5',
    `--db=${remote}`,
    ...own,
    'show',
  ])
}

/** Rows that are not the attacker's: another host, its end of tunnels, and a card of its VM. */
export interface AttackTarget {
  readonly chassis: string
  readonly encap: string
  readonly port: string
}

/** What a host may not do: everything that is another host's or the network server's. */
export const forbidden = ({
  chassis,
  encap,
  port,
}: AttackTarget): Readonly<Record<string, readonly string[]>> => ({
  'change another host': ['set', 'Chassis', chassis, 'other_config:ovn-bridge-mappings=x'],
  'delete another host': ['destroy', 'Chassis', chassis],
  'redirect the tunnels to another host': ['set', 'Encap', encap, 'ip=192.0.2.66'],
  'add a flow': [
    'create',
    'Logical_Flow',
    'pipeline=ingress',
    'table_id=0',
    'priority=65535',
    'match=1',
    'actions="next;"',
  ],
  'delete the flows': ['--all', 'destroy', 'Logical_Flow'],
  'change the address of a card': [
    'set',
    'Port_Binding',
    port,
    'mac="02:00:00:00:00:66 10.84.0.66"',
  ],
  'change the key of a card': ['set', 'Port_Binding', port, 'tunnel_key=666'],
  'delete a card': ['destroy', 'Port_Binding', port],
  'delete the networks': ['--all', 'destroy', 'Datapath_Binding'],
  'delete the groups of firewalls': ['--all', 'destroy', 'Port_Group'],
  'delete DNS': ['--all', 'destroy', 'DNS'],
  'delete DHCP': ['--all', 'destroy', 'DHCP_Options'],
  'give itself another role': ['set', 'Connection', '.', 'role=""'],
  'open another port': ['set-connection', 'ptcp:6699'],
  'change what roles may': ['--all', 'destroy', 'RBAC_Permission'],
  'change the settings of all': ['set', 'SB_Global', '.', 'options:x=y'],
})
