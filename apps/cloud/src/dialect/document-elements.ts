/** The root element of each document, by the name of its media type. Only references have one for each kind of record. */
export const documentElements = {
  error: ['Error'],
  versions: ['SupportedVersions'],
  session: ['Session'],
  accessTokens: ['AccessTokens'],
  accessToken: ['AccessToken'],
  secondFactors: ['SecondFactors'],
  secondFactor: ['SecondFactor'],
  newSecondFactor: ['NewSecondFactor'],
  recoveryCodes: ['RecoveryCodes'],
  orgList: ['OrgList'],
  org: ['Org'],
  vdc: ['Vdc'],
  orgVdcNetwork: ['OrgVdcNetwork'],
  allocatedNetworkAddress: ['AllocatedIpAddresses'],
  vAppTemplate: ['VAppTemplate'],
  vApp: ['VApp'],
  vm: ['Vm'],
  catalog: ['Catalog'],
  catalogItem: ['CatalogItem'],
  controlAccess: ['ControlAccessParams'],
  entity: ['Entity'],
  upload: ['Upload'],
  networkConnectionSection: ['NetworkConnectionSection'],
  snapshotSection: ['SnapshotSection'],
  leaseSettingsSection: ['LeaseSettingsSection'],
  rasdItem: ['Item'],
  metadata: ['Metadata'],
  'metadata.value': ['MetadataValue'],
  screenTicket: ['ScreenTicket'],
  mksTicket: ['MksTicket'],
  metrics: ['Metrics'],
  task: ['Task'],
  tasksList: ['TasksList'],
  'query.records': ['QueryResultRecords'],
  'query.idrecords': ['QueryResultRecords'],
  'query.references': [
    'VMReferences',
    'VAppReferences',
    'TaskReferences',
    'OrganizationReferences',
    'OrgVdcReferences',
    'OrgVdcNetworkReferences',
    'OrgNetworkReferences',
    'SecurityGroupReferences',
    'CatalogReferences',
    'VAppTemplateReferences',
    'EventReferences',
    'HostReferences',
    'EdgeGatewayReferences',
    'ExternalNetworkReferences',
  ],
  'query.queryList': ['QueryList'],
  'admin.cloud': ['Cloud'],
  'admin.org': ['AdminOrg'],
  'admin.vdc': ['AdminVdc'],
  'admin.user': ['User'],
  'admin.usage': ['OrgUsage'],
  'admin.edgeGateway': ['EdgeGateway'],
  'admin.externalAddresses': ['ExternalAddresses'],
  'admin.externalAddress': ['ExternalAddress'],
  'admin.externalNetworks': ['VMWExternalNetworkReferences'],
  'admin.externalNetwork': ['VMWExternalNetwork'],
  'admin.securityGroups': ['SecurityGroups'],
  'admin.securityGroup': ['SecurityGroup'],
  'admin.identityProviders': ['IdentityProviders'],
  'admin.identityProvider': ['IdentityProvider'],
  'admin.identityProviderTest': ['IdentityProviderTest'],
  'admin.roles': ['OrgRoles'],
  'admin.role': ['OrgRole'],
  'admin.webhooks': ['Webhooks'],
  'admin.webhook': ['Webhook'],
  'admin.webhookTest': ['WebhookTest'],
  'admin.hosts': ['Hosts'],
  'admin.host': ['Host'],
  'admin.cells': ['Cells'],
  'admin.consoles': ['Consoles'],
} as const

export type DocumentName = keyof typeof documentElements

/**
 * What a route returns for a status: a document, or one of two ('vApp or vm', and the type in the document says which); nothing, a
 * stream, a file.
 */
export type AnswerName =
  | DocumentName
  | 'vApp or vm'
  | 'vAppTemplate or vm'
  | 'nothing'
  | 'events'
  | 'schema'
  | 'image/png'
  | 'text/csv'
  | 'application/json'

/** The documents that an answer names; empty for what is no document. */
export const documentsIn = (answer: string): readonly DocumentName[] =>
  answer.split(' or ').filter((name): name is DocumentName => Object.hasOwn(documentElements, name))
