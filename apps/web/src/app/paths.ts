// Every address of the app, below /ui. routes.tsx says which page each of them shows.
import { pageConfig } from '../data/session.ts'

const segment = encodeURIComponent

export const paths = {
  login: '/login',
  overview: '/',
  vms: '/vms',
  newVm: '/vms/new',
  /** A machine may have a VM called new; a cloud's ids begin with vm-. */
  vm: (id: string) => (id === 'new' ? '/vms/named/new' : `/vms/${segment(id)}`),
  vapps: '/vapps',
  newVapp: '/vapps/new',
  vapp: (id: string) => `/vapps/${segment(id)}`,
  templates: '/templates',
  template: (id: string) => `/templates/${segment(id)}`,
  catalog: (id: string) => `/catalogs/${segment(id)}`,
  networks: '/networks',
  newNetwork: '/networks/new',
  network: (id: string) => `/networks/${segment(id)}`,
  edgeGateways: '/edge-gateways',
  edgeGateway: (id: string) => `/edge-gateways/${segment(id)}`,
  securityGroups: '/security-groups',
  newSecurityGroup: '/security-groups/new',
  securityGroup: (id: string) => `/security-groups/${segment(id)}`,
  device: '/device',
  reach: '/reach',
  tasks: '/tasks',
  /** The results of one action on many VMs. */
  bulkTask: (id: string) => `/tasks?of=${segment(id)}`,
  events: '/events',
  workflows: '/workflows',
  importWorkflow: '/workflows/import',
  workflow: (id: string) => `/workflows/${segment(id)}`,
  run: (workflow: string, id: string) => `/workflows/${segment(workflow)}/runs/${segment(id)}`,
  questions: '/questions',
  schedules: '/schedules',
  settings: '/settings',
  secondFactor: '/second-factor',
  org: '/org',
  machine: '/machine',
  adminHosts: '/admin/hosts',
  adminHost: (id: string) => `/admin/hosts/${segment(id)}`,
  adminOrgs: '/admin/orgs',
  adminOrg: (id: string) => `/admin/orgs/${segment(id)}`,
  adminExternalNetworks: '/admin/external-networks',
  adminVms: '/admin/vms',
  adminAudit: '/admin/audit',
  adminCells: '/admin/cells',
  adminConsoles: '/admin/consoles',
} as const

/** The page of a VM or vApp by its id, which begins with its kind in a cloud. A machine has VMs only, with ids of its users. */
export const objectPath = (id: string): string =>
  pageConfig.get().kind === 'cloud' && id.startsWith('vapp-') ? paths.vapp(id) : paths.vm(id)
