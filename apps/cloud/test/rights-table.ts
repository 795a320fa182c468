// The role that each route requires, and the expected status: written by hand, independently of the route table.
import type { Role } from '../src/domain/roles.ts'
import type { Status } from '../src/domain/vm-status.ts'

/** From the least to the most privileged: each has the rights of all before it. */
export const ladder: readonly Role[] = [
  'console only',
  'user',
  'author',
  'organisation administrator',
  'system administrator',
]

export interface Row {
  /** The lowest role that has the right; missing: no credentials are needed. */
  readonly least?: Role
  /** The expected status for an allowed caller. */
  readonly ok: number
  readonly query?: string
  /** Default: the example of the document that it takes. */
  readonly body?: () => string
  /** The required status of the VM. Default: the first that its operation declares. */
  readonly from?: Status
  readonly streams?: true
  /** The request is for a vApp. */
  readonly whole?: true
  /** The status for all others: 403, unless the resource is hidden from them. */
  readonly otherwise?: 404
}

let count = 0
export const fresh = (): string => `n-${(count += 1)}`

/** On an uplink of its own: pools of the same uplink have different addresses. */
const externalNetwork = (): string =>
  `<VMWExternalNetwork name="${fresh()}"><Configuration><IpScopes><IpScope><Gateway>203.0.113.1</Gateway><Netmask>255.255.255.0</Netmask>` +
  '<IpRanges><IpRange><StartAddress>203.0.113.100</StartAddress><EndAddress>203.0.113.199</EndAddress></IpRange></IpRanges></IpScope></IpScopes>' +
  `<FenceMode>isolated</FenceMode></Configuration><Uplink>${fresh()}</Uplink></VMWExternalNetwork>`

/** CIM resource types: 3 processors, 4 memory. */
export const itemOf = (kind: number, quantity: number | string): string =>
  `<Item xmlns:rasd="urn:r"><rasd:ResourceType>${kind}</rasd:ResourceType><rasd:VirtualQuantity>${quantity}</rasd:VirtualQuantity></Item>`
export const COLOUR = '<MetadataValue><Value>red</Value></MetadataValue>'

/** An action on the VMs of a query that finds none. */
const NO_VMS = '?type=vm&filter=name==none&expect=0'

/** If a test sent you here because a route has no line: add the role that it requires, and the status of a valid request. */
export const rows: Readonly<Record<string, Row>> = {
  listVersions: { ok: 200 },
  readSchema: { ok: 200 },
  readOpenApi: { ok: 200 },
  createSession: { ok: 401 },
  readSession: { least: 'console only', ok: 200 },
  deleteSession: { least: 'console only', ok: 204 },
  listAccessTokens: { least: 'console only', ok: 200 },
  addAccessToken: { least: 'console only', ok: 201 },
  readAccessToken: { least: 'console only', ok: 200 },
  deleteAccessToken: { least: 'console only', ok: 204 },
  listSecondFactors: { least: 'console only', ok: 200 },
  addSecondFactor: { least: 'console only', ok: 201 },
  readSecondFactor: { least: 'console only', ok: 200 },
  // The code is wrong.
  confirmSecondFactor: { least: 'console only', ok: 400 },
  deleteSecondFactor: { least: 'console only', ok: 204 },
  // There is none.
  replaceRecoveryCodes: { least: 'console only', ok: 400 },
  listOrgs: { least: 'console only', ok: 200 },
  readOrg: { least: 'console only', ok: 200 },
  readVdc: { least: 'console only', ok: 200 },
  readTemplate: { least: 'console only', ok: 200 },
  instantiate: { least: 'author', ok: 201 },
  compose: { least: 'author', ok: 201 },
  clone: { least: 'author', ok: 201, whole: true },
  recompose: { least: 'author', ok: 202, whole: true },
  readEntity: { least: 'console only', ok: 200 },
  delete: { least: 'author', ok: 202, from: 'POWERED_OFF' },
  powerOn: { least: 'user', ok: 202 },
  powerOff: { least: 'user', ok: 202 },
  suspend: { least: 'user', ok: 202 },
  discardSuspendedState: { least: 'user', ok: 202 },
  reset: { least: 'user', ok: 202 },
  shutdown: { least: 'user', ok: 202 },
  reboot: { least: 'user', ok: 202 },
  enableNestedHypervisor: { least: 'author', ok: 202 },
  disableNestedHypervisor: { least: 'author', ok: 202 },
  deploy: { least: 'user', ok: 202, from: 'POWERED_OFF' },
  undeploy: { least: 'user', ok: 202, from: 'POWERED_ON' },
  createSnapshot: { least: 'author', ok: 202 },
  revertToCurrentSnapshot: { least: 'author', ok: 202 },
  removeAllSnapshots: { least: 'author', ok: 202 },
  readLease: { least: 'console only', ok: 200, whole: true },
  changeLease: { least: 'author', ok: 202, whole: true },
  readSnapshotSection: { least: 'console only', ok: 200 },
  readProcessors: { least: 'console only', ok: 200 },
  changeProcessors: { least: 'author', ok: 202, from: 'POWERED_OFF' },
  readMemory: { least: 'console only', ok: 200 },
  changeMemory: { least: 'author', ok: 202, from: 'POWERED_OFF' },
  readConnections: { least: 'console only', ok: 200 },
  changeConnections: { least: 'author', ok: 202, from: 'POWERED_OFF' },
  reconfigureVm: { least: 'author', ok: 202 },
  readUsage: { least: 'console only', ok: 200, from: 'POWERED_ON' },
  takeScreenshot: { least: 'console only', ok: 200 },
  acquireTicket: { least: 'console only', ok: 200, from: 'POWERED_ON' },
  acquireMksTicket: { least: 'console only', ok: 200, from: 'POWERED_ON' },
  readTask: { least: 'console only', ok: 200 },
  cancelTask: { least: 'user', ok: 204 },
  runQuery: { least: 'console only', ok: 200, query: '?type=vm' },
  powerOnMatching: { least: 'user', ok: 202, query: NO_VMS },
  powerOffMatching: { least: 'user', ok: 202, query: NO_VMS },
  suspendMatching: { least: 'user', ok: 202, query: NO_VMS },
  shutdownMatching: { least: 'user', ok: 202, query: NO_VMS },
  rebootMatching: { least: 'user', ok: 202, query: NO_VMS },
  resetMatching: { least: 'user', ok: 202, query: NO_VMS },
  discardSuspendedStateMatching: { least: 'user', ok: 202, query: NO_VMS },
  removeAllSnapshotsMatching: { least: 'author', ok: 202, query: NO_VMS },
  deleteMatching: { least: 'author', ok: 202, query: NO_VMS },
  queryVms: { least: 'console only', ok: 200 },
  queryVapps: { least: 'console only', ok: 200 },
  queryTemplates: { least: 'console only', ok: 200 },
  queryCatalogs: { least: 'console only', ok: 200 },
  queryOrgs: { least: 'console only', ok: 200 },
  queryAllVms: { least: 'system administrator', ok: 200 },
  queryAllVapps: { least: 'system administrator', ok: 200 },
  queryHosts: { least: 'system administrator', ok: 200 },
  rename: { least: 'author', ok: 202 },
  readMetadata: { least: 'console only', ok: 200 },
  mergeMetadata: { least: 'author', ok: 202 },
  readMetadataValue: { least: 'console only', ok: 200 },
  writeMetadataValue: { least: 'author', ok: 202 },
  deleteMetadataValue: { least: 'author', ok: 202 },
  addNetwork: { least: 'organisation administrator', ok: 201 },
  readNetwork: { least: 'console only', ok: 200 },
  readAdminNetwork: { least: 'console only', ok: 200 },
  changeNetwork: { least: 'organisation administrator', ok: 202 },
  deleteNetwork: { least: 'organisation administrator', ok: 202 },
  listAllocatedAddresses: { least: 'console only', ok: 200 },
  listEdgeGateways: { least: 'user', ok: 200 },
  addEdgeGateway: { least: 'system administrator', ok: 201 },
  readEdgeGateway: { least: 'user', ok: 200 },
  changeEdgeGateway: { least: 'organisation administrator', ok: 202 },
  deleteEdgeGateway: { least: 'system administrator', ok: 202 },
  configureServices: { least: 'organisation administrator', ok: 202 },
  listExternalAddresses: { least: 'user', ok: 200 },
  takeExternalAddress: { least: 'organisation administrator', ok: 201 },
  releaseExternalAddress: { least: 'organisation administrator', ok: 204 },
  listExternalNetworks: { least: 'system administrator', ok: 200 },
  addExternalNetwork: { least: 'system administrator', ok: 201, body: externalNetwork },
  readExternalNetwork: { least: 'user', ok: 200 },
  changeExternalNetwork: { least: 'system administrator', ok: 200, otherwise: 404 },
  deleteExternalNetwork: { least: 'system administrator', ok: 204, otherwise: 404 },
  listSecurityGroups: { least: 'console only', ok: 200 },
  addSecurityGroup: { least: 'organisation administrator', ok: 201 },
  readSecurityGroup: { least: 'console only', ok: 200 },
  changeSecurityGroup: { least: 'organisation administrator', ok: 200 },
  deleteSecurityGroup: { least: 'organisation administrator', ok: 204 },
  readCatalog: { least: 'console only', ok: 200 },
  readCatalogAccess: { least: 'console only', ok: 200 },
  changeCatalogAccess: { least: 'author', ok: 200 },
  readVappAccess: { least: 'console only', ok: 200, whole: true },
  changeVappAccess: { least: 'author', ok: 200, whole: true },
  upload: { least: 'author', ok: 201 },
  readUpload: { least: 'author', ok: 200 },
  sendUpload: { least: 'author', ok: 400, body: () => 'more than one' },
  deleteUpload: { least: 'author', ok: 204 },
  readCatalogItem: { least: 'console only', ok: 200 },
  readResolver: { least: 'console only', ok: 200 },
  resolve: { least: 'console only', ok: 200 },
  listTasks: { least: 'console only', ok: 200 },
  readAdmin: { least: 'organisation administrator', ok: 200 },
  addOrg: { least: 'system administrator', ok: 201 },
  readOrgUsage: { least: 'organisation administrator', ok: 200 },
  exportOrgUsage: { least: 'organisation administrator', ok: 200 },
  readAdminOrg: { least: 'organisation administrator', ok: 200 },
  changeOrg: { least: 'system administrator', ok: 200, body: () => '<AdminOrg/>' },
  enableOrg: { least: 'system administrator', ok: 204 },
  disableOrg: { least: 'system administrator', ok: 204 },
  addVdc: { least: 'system administrator', ok: 201 },
  readAdminVdc: { least: 'organisation administrator', ok: 200 },
  changeVdc: { least: 'system administrator', ok: 200, body: () => '<AdminVdc/>' },
  listRoles: { least: 'organisation administrator', ok: 200 },
  addRole: { least: 'organisation administrator', ok: 201 },
  readRole: { least: 'organisation administrator', ok: 200 },
  changeRole: { least: 'organisation administrator', ok: 200 },
  deleteRole: { least: 'organisation administrator', ok: 204 },
  listIdentityProviders: { least: 'organisation administrator', ok: 200 },
  addIdentityProvider: { least: 'system administrator', ok: 201 },
  readIdentityProvider: { least: 'organisation administrator', ok: 200 },
  changeIdentityProvider: { least: 'system administrator', ok: 200 },
  deleteIdentityProvider: { least: 'system administrator', ok: 204 },
  testIdentityProvider: { least: 'system administrator', ok: 200 },
  writeGroupRoles: { least: 'organisation administrator', ok: 200 },
  listWebhooks: { least: 'organisation administrator', ok: 200 },
  addWebhook: {
    least: 'organisation administrator',
    ok: 201,
    // An organisation has ten enabled ones at most.
    body: () =>
      `<Webhook name="${fresh()}"><IsEnabled>false</IsEnabled><Url>https://siem.example/</Url></Webhook>`,
  },
  readWebhook: { least: 'organisation administrator', ok: 200 },
  changeWebhook: {
    least: 'organisation administrator',
    ok: 200,
    body: () => '<Webhook><Url>https://siem.example/</Url></Webhook>',
  },
  deleteWebhook: { least: 'organisation administrator', ok: 204 },
  testWebhook: { least: 'organisation administrator', ok: 200 },
  resendEvents: { least: 'organisation administrator', ok: 200 },
  replaceSecret: { least: 'organisation administrator', ok: 200 },
  removeSecondFactors: { least: 'organisation administrator', ok: 204 },
  listUserTokens: { least: 'organisation administrator', ok: 200 },
  readUserToken: { least: 'organisation administrator', ok: 200 },
  deleteUserToken: { least: 'organisation administrator', ok: 204 },
  addUser: { least: 'organisation administrator', ok: 201 },
  readUser: { least: 'organisation administrator', ok: 200 },
  changeUser: { least: 'organisation administrator', ok: 200, body: () => '<User/>' },
  listHosts: { least: 'system administrator', ok: 200 },
  readHost: { least: 'system administrator', ok: 200, otherwise: 404 },
  enableHost: { least: 'system administrator', ok: 204, otherwise: 404 },
  disableHost: { least: 'system administrator', ok: 204, otherwise: 404 },
  listCells: { least: 'system administrator', ok: 200 },
  listConsoles: { least: 'system administrator', ok: 200 },
  closeConsole: { least: 'system administrator', ok: 204, otherwise: 404 },
  followEvents: { least: 'console only', ok: 200, streams: true },
}
