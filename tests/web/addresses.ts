// Every address of the web UI, over the data of the simulated cell, and over a machine with a VM "kept".
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const vm = '/vms/vm-01980001-7331-7000-8000-000000002cb1'
const vapp = '/vapps/vapp-01980002-0000-7000-8000-000000000003'
const uuid = (kind: string, n: string): string => `${kind}-0000-7000-8000-${n.padStart(12, '0')}`

const gateway = `/edge-gateways/${uuid('0198000d', '1')}`

/** Of a VM that is on, so that it has a screen. */
export const screenPage = '/vms/vm-01980001-c154-7000-8000-000000002cb1'

export const tenantPages = [
  '/',
  '/vms',
  `/vms?preview=${vm.slice(5)}`,
  '/vms?q=nothing-has-this-name',
  vm,
  `${vm}?tab=snapshots`,
  `${vm}?tab=hardware`,
  `${vm}?tab=networks`,
  `${vm}?tab=metadata`,
  `${vm}?tab=activity`,
  '/vms/new',
  '/vapps',
  '/vapps/new',
  vapp,
  `${vapp}?tab=lease`,
  `${vapp}?tab=sharing`,
  '/templates',
  '/templates?upload=1',
  `/templates/vappTemplate-${uuid('01980007', '1')}`,
  `/catalogs/${uuid('01980009', '1')}`,
  `/catalogs/${uuid('01980009', '1')}?tab=sharing`,
  '/networks',
  '/networks?q=nothing-has-this-name',
  '/networks/new',
  `/networks/${uuid('0198000c', '0')}`,
  // A network with IPv6, and a VM on it.
  `/vms/vm-${uuid('01980001', '2ee0')}?tab=networks`,
  `/networks/${uuid('0198000c', '1')}`,
  '/edge-gateways',
  `/networks/${uuid('0198000c', '4')}`,
  ...['nat', 'firewall', 'addresses', 'routes'].map((tab) => `${gateway}?tab=${tab}`),
  '/security-groups',
  `/security-groups/${uuid('0198000f', '1')}`,
  '/security-groups/new',
  `/security-groups/${uuid('0198000f', '2')}`,
  '/reach',
  `/networks/${uuid('0198000c', '3')}`,
  '/tasks',
  `/tasks?of=${uuid('01980003', '1')}`,
  '/events',
  '/workflows',
  '/workflows/import',
  `/workflows/${uuid('01980010', '1')}`,
  `/workflows/${uuid('01980010', '2')}/runs/${uuid('01980011', '1')}`,
  '/questions',
  '/schedules',
  // Leads to the settings: this user may do more than add a second factor.
  '/second-factor',
  '/settings',
  '/org',
  '/org?tab=roles',
  '/org?tab=quota',
  '/org?tab=usage',
  '/org?tab=leases',
  '/org?tab=webhooks',
  '/device?code=BCDF-GHJK',
  '/nothing-here',
] as const
export const administratorPages = [
  '/admin/hosts',
  `/admin/hosts/${uuid('01980005', '11')}`,
  '/admin/orgs',
  `/admin/orgs/${uuid('01980004', '1')}?tab=quota`,
  `/admin/orgs/${uuid('01980004', '1')}?tab=vdcs`,
  '/admin/external-networks',
  '/admin/vms',
  '/admin/audit',
  '/admin/consoles',
  '/admin/cells',
  '/admin/hosts?cell=cell-1',
] as const
export const machinePages = [
  '/vms',
  '/vms?q=nothing-has-this-name',
  '/vms?preview=kept',
  '/vms/new',
  ...['overview', 'snapshots', 'hardware', 'folders', 'forwards', 'log'].map(
    (tab) => `/vms/kept?tab=${tab}`,
  ),
  '/vms/named/kept',
  '/vms/missing',
  '/templates',
  '/templates?import=1',
  '/tasks',
  '/machine',
  // Addresses of a cloud, such as a link that a colleague sent.
  '/vapps',
  '/login',
  '/nothing-here',
] as const

/** Routes of the web UI that none of these addresses has. */
export function unvisited(kind: 'cloud' | 'machine', addresses: readonly string[]): string[] {
  const file = readFileSync(join(import.meta.dirname, '../../apps/web/src/routes.tsx'), 'utf8')
  const ofMachine = /const machinePages[^]*?\n]\n/
  const text = kind === 'machine' ? (ofMachine.exec(file)?.[0] ?? '') : file.replace(ofMachine, '')
  const patterns = [...text.matchAll(/\bpath: '([^'*]+)'/g)].map(([, path = '']) => path)
  assert.ok(patterns.length > (kind === 'machine' ? 5 : 15))
  const visited = addresses.map((path) => path.replace(/\?.*/, ''))
  return patterns.filter((pattern) => {
    const whole = new RegExp(`^/?${pattern.replaceAll(/:\w+/g, '[^/]+')}$`)
    return !visited.some((path) => whole.test(path))
  })
}
