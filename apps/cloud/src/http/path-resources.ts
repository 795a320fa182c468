import { UUID } from '@skerry/vm'

import type { Tx, TaskRow } from '../database/tables.ts'
import { findProvider, type IdentityProviderRow } from '../directories/identity-providers.ts'
import { may, type OwnedResource, type Principal } from '../domain/authorize.ts'
import { findHost, type HostRow } from '../hosts/hosts.ts'
import { findUpload, type UploadRow } from '../images/upload-rows.ts'
import { findConsole, type ConsoleRow } from '../inventory/consoles.ts'
import { findVapp, type VappRow } from '../inventory/vapps.ts'
import { findVmAndWork, type VmRow } from '../inventory/vms.ts'
import { findRole, type OrgRoleRow } from '../roles/org-roles.ts'
import { findSecondFactor, type SecondFactorRow } from '../second-factors/second-factors.ts'
import type { SharedTarget } from '../sharing/shared-access.ts'
import { findTask } from '../tasks/find-task.ts'
import { findAccessToken, findTokenById, type AccessTokenRow } from '../tenants/access-tokens.ts'
import {
  findCatalog,
  findCatalogItem,
  type CatalogItemRow,
  type CatalogRow,
} from '../tenants/catalogs.ts'
import { findEdgeGateway } from '../tenants/edge-gateways.ts'
import {
  findOutside,
  type EdgeGatewayRow,
  type OutsideNetwork,
} from '../tenants/edge-surroundings.ts'
import { findNetwork, type NetworkRow } from '../tenants/network-rows.ts'
import {
  findOrg,
  findTemplate,
  findVdc,
  type OrgRow,
  type TemplateRow,
  type VdcRow,
} from '../tenants/orgs.ts'
import { findSecurityGroup, type SecurityGroupRow } from '../tenants/security-groups.ts'
import { findAccount, type AccountRow } from '../tenants/tenants.ts'
import { findWebhook, type WebhookRow } from '../webhooks/webhooks.ts'
import { resolve, type Resolved } from './resolve.ts'

/** A vApp or a VM: both are below /api/vApp/, distinguished by the prefix of their id. */
export type Entity =
  | (OwnedResource & { readonly kind: 'vm'; readonly vm: VmRow; readonly hasTasks: boolean })
  | (OwnedResource & { readonly kind: 'vapp'; readonly vapp: VappRow })

/** The resources that a ':name' in a path refers to. */
export interface PathResources {
  readonly org: OrgRow & OwnedResource
  readonly vdc: VdcRow
  /** `isVm`: the VM in the template was requested. */
  readonly template: TemplateRow & { readonly isVm: boolean }
  readonly network: NetworkRow
  readonly edgeGateway: EdgeGatewayRow
  readonly externalNetwork: OutsideNetwork & OwnedResource
  readonly securityGroup: SecurityGroupRow
  readonly provider: IdentityProviderRow
  /** One of an organisation. */
  readonly role: OrgRoleRow
  readonly webhook: WebhookRow
  readonly entity: Entity
  readonly task: TaskRow
  readonly accessToken: AccessTokenRow
  /** A token of any user that the caller administers. */
  readonly userToken: AccessTokenRow
  /** A second factor of the caller. */
  readonly secondFactor: SecondFactorRow
  readonly catalog: CatalogRow
  readonly catalogItem: CatalogItemRow
  readonly upload: UploadRow
  readonly urn: Resolved
  readonly account: AccountRow
  readonly host: HostRow & OwnedResource
  readonly console: ConsoleRow
}

type Finders = {
  readonly [Name in keyof PathResources]: (
    tx: Tx,
    id: string,
    /** The caller; `gone`: also find deleted resources. */
    requested: { readonly principal: Principal; readonly gone?: boolean },
  ) => Promise<PathResources[Name] | undefined>
}

const uuidAtEnd = new RegExp(`${UUID}$`)
/** The prefix of the uuid gives the kind; an id without a uuid is unknown, not an error. */
const uuidOf = (id: string, kind: RegExp): string | undefined =>
  kind.test(id) ? uuidAtEnd.exec(id)?.[0] : undefined

export const resourceFinders: Finders = {
  async org(tx, id) {
    const uuid = uuidOf(id, /^[0-9a-f]/)
    const org = uuid === undefined ? undefined : await findOrg(tx, uuid)
    return org && { ...org, org: org.id }
  },
  async vdc(tx, id) {
    const uuid = uuidOf(id, /^[0-9a-f]/)
    return uuid === undefined ? undefined : findVdc(tx, uuid)
  },
  async network(tx, id, how) {
    const uuid = uuidOf(id, /^([0-9a-f]|urn:[^:]+:network:)/)
    return uuid === undefined ? undefined : findNetwork(tx, uuid, how)
  },
  async edgeGateway(tx, id, how) {
    const uuid = uuidOf(id, /^([0-9a-f]|urn:[^:]+:gateway:)/)
    return uuid === undefined ? undefined : findEdgeGateway(tx, uuid, how)
  },
  // An external network belongs to no organisation. Tenants see those that their edge gateways and networks lead to.
  async externalNetwork(tx, id, { principal }) {
    const uuid = uuidOf(id, /^[0-9a-f]/)
    const external = uuid === undefined ? undefined : await findOutside(tx, uuid)
    return external && { ...external, org: principal.org }
  },
  async securityGroup(tx, id) {
    const uuid = uuidOf(id, /^([0-9a-f]|urn:[^:]+:securitygroup:)/)
    return uuid === undefined ? undefined : findSecurityGroup(tx, uuid)
  },
  async provider(tx, id) {
    const uuid = uuidOf(id, /^[0-9a-f]/)
    return uuid === undefined ? undefined : findProvider(tx, uuid)
  },
  async role(tx, id) {
    const uuid = uuidOf(id, /^([0-9a-f]|urn:[^:]+:role:)/)
    return uuid === undefined ? undefined : findRole(tx, uuid)
  },
  async webhook(tx, id) {
    const uuid = uuidOf(id, /^[0-9a-f]/)
    return uuid === undefined ? undefined : findWebhook(tx, uuid)
  },
  async template(tx, id) {
    const uuid = uuidOf(id, /^(vappTemplate|vm)-/)
    const template = uuid === undefined ? undefined : await findTemplate(tx, uuid)
    return template && { ...template, isVm: id.startsWith('vm-') }
  },
  async entity(tx, id, how) {
    // The published interface writes {vm_id} without a prefix: a bare UUID is a VM.
    const ofVm = uuidOf(id, /^(vm-|urn:[^:]+:vm:|[0-9a-f]{8}-)/)
    if (ofVm !== undefined) {
      const vm = await findVmAndWork(tx, ofVm, how)
      return vm && { kind: 'vm', vm, hasTasks: vm.has_tasks, org: vm.org }
    }
    const ofVapp = uuidOf(id, /^(vapp-|urn:[^:]+:vapp:)/)
    const vapp = ofVapp === undefined ? undefined : await findVapp(tx, ofVapp, how)
    return vapp && { kind: 'vapp', vapp, org: vapp.org }
  },
  async task(tx, id) {
    const uuid = uuidOf(id, /^([0-9a-f]|urn:[^:]+:task:)/)
    return uuid === undefined ? undefined : findTask(tx, uuid)
  },
  async catalog(tx, id) {
    const uuid = uuidOf(id, /^[0-9a-f]/)
    return uuid === undefined ? undefined : findCatalog(tx, uuid)
  },
  async catalogItem(tx, id) {
    const uuid = uuidOf(id, /^[0-9a-f]/)
    return uuid === undefined ? undefined : findCatalogItem(tx, uuid)
  },
  async upload(tx, id) {
    const uuid = uuidOf(id, /^[0-9a-f]/)
    return uuid === undefined ? undefined : findUpload(tx, uuid)
  },
  urn: (tx, id) => resolve(tx, id),
  async account(tx, id) {
    const uuid = uuidOf(id, /^[0-9a-f]/)
    return uuid === undefined ? undefined : findAccount(tx, uuid)
  },
  // A host belongs to no organisation: only callers with the right host:admin see one.
  async host(tx, id, { principal }) {
    const uuid = uuidOf(id, /^[0-9a-f]/)
    if (uuid === undefined || !may(principal, 'host:admin')) return undefined
    const host = await findHost(tx, uuid)
    return host && { ...host, org: principal.org }
  },
  // Tenants have no access to the table of consoles.
  async console(tx, id, { principal }) {
    const uuid = uuidOf(id, /^[0-9a-f]/)
    if (uuid === undefined || !may(principal, 'cloud:admin')) return undefined
    return findConsole(tx, uuid)
  },
  async accessToken(tx, id, { principal }) {
    const uuid = uuidOf(id, /^[0-9a-f]/)
    return uuid === undefined ? undefined : findAccessToken(tx, principal, uuid)
  },
  async secondFactor(tx, id, { principal }) {
    const uuid = uuidOf(id, /^([0-9a-f]|urn:[^:]+:secondfactor:)/)
    return uuid === undefined ? undefined : findSecondFactor(tx, principal, uuid)
  },
  async userToken(tx, id) {
    const uuid = uuidOf(id, /^[0-9a-f]/)
    return uuid === undefined ? undefined : findTokenById(tx, uuid)
  },
}

/** The shares by which a resource is reached: those of its vApp, or of the catalogs that it is in. Others are not shared. */
export const sharedAs: {
  readonly [Name in keyof PathResources]?: (found: PathResources[Name]) => SharedTarget | undefined
} = {
  entity: (found) => ({ vapp: found.kind === 'vm' ? found.vm.vapp : found.vapp.id }),
  task: ({ vapp }) => (vapp === null ? undefined : { vapp }),
  catalog: ({ id }) => ({ catalog: id }),
  catalogItem: ({ catalog }) => ({ catalog }),
  upload: ({ catalog }) => ({ catalog }),
  template: ({ id }) => ({ template: id }),
  // By a vApp nothing of the organisation is read, so none of its ids is resolved.
  urn({ kind, id }) {
    if (kind === 'catalog') return { catalog: id }
    if (kind === 'catalogitem') return { catalogItem: id }
    return kind === 'vapptemplate' ? { template: id } : undefined
  },
}
