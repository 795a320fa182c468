// A host that was taken over: it has its own overlay certificate, and asks the southbound database for what is another's.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import type { Lab, LabHost } from '@skerry/lab'

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
const askSouthbound = ({ host, remote }: AttackPlace, words: readonly string[]) =>
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
function askAsHost({ host, remote }: AttackPlace) {
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
interface AttackTarget {
  readonly chassis: string
  readonly encap: string
  readonly port: string
}

/** What a host may not do: everything that is another host's or the network server's. */
const forbidden = ({
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

/** A host that was taken over can change nothing that is another's. */
export async function requireForbidden(
  { cloud }: Lab,
  attacker: LabHost,
  victim: LabHost,
): Promise<void> {
  const place = { host: attacker, remote: cloud?.network?.url ?? '' }
  const ask = async (...words: readonly string[]) => {
    const { code, stdout, stderr } = await askSouthbound(place, words)
    assert.equal(code, 0, stderr)
    return stdout.trim()
  }
  const idOf = async ({ name }: LabHost) =>
    (await cloud?.postgres.psql(`select id from host where name = '${name}'`, 'cloud')) ?? ''
  const chassis = await idOf(victim)
  // A host reads everything: this is how it knows where to send packets.
  const encap = await ask('--columns=_uuid', 'find', 'Encap', `chassis_name=${chassis}`)
  const row = await ask('--columns=_uuid', 'find', 'Chassis', `name=${chassis}`)
  const ports = ['find', 'Port_Binding', `chassis=${row}`, 'type=""']
  const [port = ''] = (await ask('--columns=logical_port', ...ports)).split('\n')
  const done: string[] = []
  for (const [attack, words] of Object.entries(forbidden({ chassis, encap, port }))) {
    const { code, stderr } = await askSouthbound(place, words)
    const isRefused = code !== 0 && /RBAC rules|permission error/.test(stderr)
    if (!isRefused) done.push(`${attack}: ${stderr}`)
  }
  assert.deepEqual(done, [])
  // It is a host: it may change what is its own.
  await ask('set', 'Chassis', await idOf(attacker), 'external_ids:note=own')
  // The certificate by which cells know it is of another issuer.
  assert.notEqual((await askAsHost(place)).code, 0)
}
