import { fill } from '@skerry/service'
import { element, type Element } from '@skerry/xml'

import type { RequestContext } from '../context.ts'
import { at } from '../dialect/addresses.ts'

/** The addresses in documents: below the configured public address, never the cell's own. */
export class Hrefs {
  readonly #base: URL
  constructor(base: RequestContext['base']) {
    this.#base = base
  }
  to = (path: string): string => new URL(path, this.#base).href
  vm = (id: string): string => this.to(fill(at.entity, { entity: `vm-${id}` }))
  vapp = (id: string): string => this.to(fill(at.entity, { entity: `vapp-${id}` }))
  task = (id: string): string => this.to(fill(at.task, { task: id }))
  org = (id: string): string => this.to(fill(at.org, { org: id }))
  vdc = (id: string): string => this.to(fill(at.vdc, { vdc: id }))
  network = (id: string): string => this.to(fill(at.network, { network: id }))
  allocatedAddresses = (id: string): string => this.to(fill(at.allocatedAddresses, { network: id }))
  adminNetworks = (vdc: string): string => this.to(fill(at.adminNetworks, { vdc }))
  adminNetwork = (id: string): string => this.to(fill(at.adminNetwork, { network: id }))
  edgeGateways = (vdc: string): string => this.to(fill(at.edgeGateways, { vdc }))
  edgeGateway = (id: string): string => this.to(fill(at.edgeGateway, { edgeGateway: id }))
  configureServices = (id: string): string =>
    this.to(fill(at.configureServices, { edgeGateway: id }))
  externalAddresses = (id: string): string =>
    this.to(fill(at.externalAddresses, { edgeGateway: id }))
  externalAddress = (id: string, address: string): string =>
    this.to(fill(at.externalAddress, { edgeGateway: id, address }))
  externalNetwork = (id: string): string =>
    this.to(fill(at.externalNetwork, { externalNetwork: id }))
  accessToken = (id: string): string => this.to(fill(at.accessToken, { accessToken: id }))
  secondFactor = (id: string): string => this.to(fill(at.secondFactor, { secondFactor: id }))
  confirmSecondFactor = (id: string): string =>
    this.to(fill(at.confirmSecondFactor, { secondFactor: id }))
  removeSecondFactors = (id: string): string =>
    this.to(fill(at.removeSecondFactors, { account: id }))
  userTokens = (id: string): string => this.to(fill(at.userTokens, { account: id }))
  userToken = (id: string): string => this.to(fill(at.userToken, { userToken: id }))
  catalog = (id: string): string => this.to(fill(at.catalog, { catalog: id }))
  upload = (id: string): string => this.to(fill(at.transfer, { upload: id }))
  catalogItem = (id: string): string => this.to(fill(at.catalogItem, { catalogItem: id }))
  resolved = (urn: string): string => `${this.to(at.resolver)}/${urn}`
  tasks = (org: string): string => this.to(fill(at.tasks, { org }))
  adminOrg = (org: string): string => this.to(fill(at.adminOrg, { org }))
  adminUser = (id: string): string => this.to(fill(at.adminUser, { account: id }))
  adminVdc = (vdc: string): string => this.to(fill(at.adminVdc, { vdc }))
  orgUsage = (org: string): string => this.to(fill(at.orgUsage, { org }))
  orgUsageTable = (org: string): string => this.to(fill(at.orgUsageTable, { org }))
  securityGroups = (org: string): string => this.to(fill(at.securityGroups, { org }))
  securityGroup = (id: string): string => this.to(fill(at.securityGroup, { securityGroup: id }))
  orgRoles = (org: string): string => this.to(fill(at.orgRoles, { org }))
  orgRole = (id: string): string => this.to(fill(at.orgRole, { role: id }))
  identityProviders = (org: string): string => this.to(fill(at.identityProviders, { org }))
  identityProvider = (id: string): string => this.to(fill(at.identityProvider, { provider: id }))
  webhooks = (org: string): string => this.to(fill(at.webhooks, { org }))
  webhook = (id: string): string => this.to(fill(at.webhook, { webhook: id }))
  adminHost = (host: string): string => this.to(fill(at.adminHost, { host }))
  adminConsole = (id: string): string => this.to(fill(at.adminConsole, { console: id }))
  template = (id: string): string => this.to(fill(at.template, { template: `vappTemplate-${id}` }))
  templateVm = (id: string): string => this.to(fill(at.template, { template: `vm-${id}` }))
}

export const hrefsIn = ({ base }: Pick<RequestContext, 'base'>): Hrefs => new Hrefs(base)

export const link = (
  rel: string,
  href: string,
  more: { readonly type?: string; readonly name?: string } = {},
): Element => element('Link', { rel, type: more.type, name: more.name, href })
