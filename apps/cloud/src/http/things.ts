import { may, type Owned, type Who } from '../identity/authorize.ts'
import { findAccessToken, type AccessTokenRow } from '../store/access-tokens.ts'
import {
  findCatalog,
  findCatalogItem,
  type CatalogItemRow,
  type CatalogRow,
} from '../store/catalogs.ts'
import { findTask } from '../store/find-task.ts'
import { findHost, type HostRow } from '../store/hosts.ts'
import {
  findOrg,
  findTemplate,
  findVdc,
  type OrgRow,
  type TemplateRow,
  type VdcRow,
} from '../store/orgs.ts'
import type { Task } from '../store/queue.ts'
import { resolve, type Resolved } from '../store/resolve.ts'
import { findAccount, type AccountRow } from '../store/tenants.ts'
import { findUpload, type UploadRow } from '../store/uploads.ts'
import { findVapp, type VappRow } from '../store/vapps.ts'
import { findVm, type VmRow } from '../store/vms.ts'
import type { Tx } from '../world.ts'

/** A vApp or a VM: both live below /api/vApp/, told apart by the prefix of their id. */
export type Entity =
  | (Owned & { readonly is: 'vm'; readonly vm: VmRow })
  | (Owned & { readonly is: 'vapp'; readonly vapp: VappRow })

/** What a ':name' in a path stands for. */
export interface Things {
  readonly org: OrgRow & Owned
  readonly vdc: VdcRow
  /** `isVm`: what was asked for is the VM in it. */
  readonly template: TemplateRow & { readonly isVm: boolean }
  readonly entity: Entity
  readonly task: Task
  readonly accessToken: AccessTokenRow
  readonly catalog: CatalogRow
  readonly catalogItem: CatalogItemRow
  readonly upload: UploadRow
  readonly urn: Resolved
  readonly account: AccountRow
  readonly host: HostRow & Owned
}

type Finders = {
  readonly [Name in keyof Things]: (
    tx: Tx,
    id: string,
    /** Who asks; `gone`: also for what was deleted. */
    asked: { readonly who: Who; readonly gone?: boolean },
  ) => Promise<Things[Name] | undefined>
}

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
/** What stands before the uuid says what it is; an id that is no uuid is unknown, not an error. */
const uuidOf = (id: string, kind: RegExp): string | undefined =>
  kind.test(id) ? UUID.exec(id)?.[0] : undefined

export const things: Finders = {
  async org(tx, id) {
    const uuid = uuidOf(id, /^[0-9a-f]/)
    const org = uuid === undefined ? undefined : await findOrg(tx, uuid)
    return org && { ...org, org: org.id }
  },
  async vdc(tx, id) {
    const uuid = uuidOf(id, /^[0-9a-f]/)
    return uuid === undefined ? undefined : findVdc(tx, uuid)
  },
  async template(tx, id) {
    const uuid = uuidOf(id, /^(vappTemplate|vm)-/)
    const template = uuid === undefined ? undefined : await findTemplate(tx, uuid)
    return template && { ...template, isVm: id.startsWith('vm-') }
  },
  async entity(tx, id, how) {
    const ofVm = uuidOf(id, /^(vm-|urn:[^:]+:vm:)/)
    if (ofVm !== undefined) {
      const vm = await findVm(tx, ofVm, how)
      return vm && { is: 'vm', vm, org: vm.org }
    }
    const ofVapp = uuidOf(id, /^(vapp-|urn:[^:]+:vapp:)/)
    const vapp = ofVapp === undefined ? undefined : await findVapp(tx, ofVapp, how)
    return vapp && { is: 'vapp', vapp, org: vapp.org }
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
  // A host belongs to no organisation: only who may reach all of them can see one.
  async host(tx, id, { who }) {
    const uuid = uuidOf(id, /^[0-9a-f]/)
    if (uuid === undefined || !may(who, 'host:admin')) return undefined
    const host = await findHost(tx, uuid)
    return host && { ...host, org: who.org }
  },
  async accessToken(tx, id, { who }) {
    const uuid = uuidOf(id, /^[0-9a-f]/)
    return uuid === undefined ? undefined : findAccessToken(tx, who, uuid)
  },
}
