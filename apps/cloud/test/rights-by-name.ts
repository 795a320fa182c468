// The right that each route requires: written by hand, independently of the route table. For roles that are not nested.
import type { Permission } from '../src/domain/roles.ts'

const list = (names: string): readonly string[] => names.trim().split(/\s+/)

/** If a test sent you here because a route has no line: add its name to the right that it requires. */
export const routesOf: Readonly<Record<Permission, readonly string[]>> = {
  anyone: list('listVersions readSchema readOpenApi'),
  login: list('createSession'),
  session: list(`
    readSession deleteSession listAccessTokens addAccessToken readAccessToken deleteAccessToken
    listSecondFactors addSecondFactor readSecondFactor confirmSecondFactor deleteSecondFactor replaceRecoveryCodes`),
  'org:read': list(`
    listOrgs readOrg readVdc readTemplate readNetwork readAdminNetwork listSecurityGroups readSecurityGroup
    readCatalog readCatalogAccess readCatalogItem readResolver resolve`),
  'vm:read': list(`
    readEntity readSnapshotSection readLease readProcessors readMemory readConnections readMetadata readMetadataValue
    readUsage listAllocatedAddresses listTasks readTask runQuery queryVms queryVapps queryTemplates queryCatalogs
    queryOrgs followEvents readVappAccess`),
  'vm:power': list(`
    powerOn powerOff suspend shutdown reboot reset discardSuspendedState deploy undeploy cancelTask
    powerOnMatching powerOffMatching suspendMatching shutdownMatching rebootMatching resetMatching
    discardSuspendedStateMatching`),
  'vm:edit': list(`
    instantiate compose recompose clone upload readUpload sendUpload deleteUpload delete deleteMatching
    createSnapshot revertToCurrentSnapshot removeAllSnapshots removeAllSnapshotsMatching
    enableNestedHypervisor disableNestedHypervisor reconfigureVm changeLease changeProcessors changeMemory
    changeVappAccess changeCatalogAccess changeConnections rename mergeMetadata writeMetadataValue deleteMetadataValue`),
  'vm:console': list('acquireTicket acquireMksTicket takeScreenshot'),
  'network:read': list(
    'listEdgeGateways readEdgeGateway listExternalAddresses readExternalNetwork',
  ),
  'network:edit': list(`
    addNetwork changeNetwork deleteNetwork changeEdgeGateway configureServices takeExternalAddress
    releaseExternalAddress addSecurityGroup changeSecurityGroup deleteSecurityGroup`),
  'org:admin': list(`
    readAdmin readAdminOrg readAdminVdc addUser readUser changeUser removeSecondFactors
    listUserTokens readUserToken deleteUserToken readOrgUsage exportOrgUsage
    listRoles addRole readRole changeRole deleteRole listIdentityProviders readIdentityProvider writeGroupRoles
    listWebhooks addWebhook readWebhook changeWebhook deleteWebhook testWebhook resendEvents replaceSecret`),
  'cloud:admin': list(`
    addOrg changeOrg enableOrg disableOrg addVdc changeVdc closeConsole
    addIdentityProvider changeIdentityProvider deleteIdentityProvider testIdentityProvider`),
  'cloud:read': list('queryAllVms queryAllVapps queryHosts listCells listConsoles'),
  'host:admin': list('listHosts readHost enableHost disableHost'),
  'external:admin': list(`
    addEdgeGateway deleteEdgeGateway listExternalNetworks addExternalNetwork changeExternalNetwork
    deleteExternalNetwork`),
}
