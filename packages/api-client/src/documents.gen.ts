// Generated from the OpenAPI document of the cloud by `npm run reference`; do not edit.

/** The documents of responses and requests by name. A name that ends in Input is a part of a document, for a request. */
export interface CloudDocuments {
  /** A user or a group of the organisation, and its level. */
  readonly AccessSetting: {
    readonly subject: CloudDocuments['AccessSettingSubject']
    readonly accessLevel: 'ReadOnly' | 'Change' | 'FullControl'
  }
  /** A user or a group of the organisation, and its level. */
  readonly AccessSettingInput: {
    readonly subject?: CloudDocuments['AccessSettingSubjectInput']
    readonly accessLevel?: 'ReadOnly' | 'Change' | 'FullControl'
  }
  readonly AccessSettingSubject: {
    readonly type: 'user' | 'group'
    readonly name?: string
    /** The name of the identity server of a group. */
    readonly provider?: string
    /** Of a user, for administrators of users. In a request it counts before the name. */
    readonly href?: string
  }
  readonly AccessSettingSubjectInput: {
    readonly type?: 'user' | 'group'
    readonly name?: string
    /** The name of the identity server of a group. */
    readonly provider?: string
    /** Of a user, for administrators of users. In a request it counts before the name. */
    readonly href?: string
  }
  /** An API token of a user, for a script. It has the rights of its user, and is accepted wherever a password is. */
  readonly AccessToken: {
    readonly href?: string
    readonly type?: string
    readonly id?: string
    /** Since 5.1. The same key in a request is the same request, as with the header Idempotency-Key. */
    readonly operationKey?: string
    readonly name: string
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly description?: string
    readonly tasks?: CloudDocuments['Tasks']
    readonly dateCreated: string
    readonly lastUsed?: string
    /** Without it, the token is valid until it is revoked. */
    readonly expires?: string
    /** Only in the answer that makes it: it is kept as a hash. */
    readonly token?: string
  }
  /** Asks for a token under this name. */
  readonly AccessTokenParams: {
    readonly name: string
    /** Days until it expires, 1 to 3650. */
    readonly days?: number
  }
  readonly AccessTokens: {
    readonly href?: string
    readonly type?: string
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly accessToken: readonly (CloudDocuments['AccessToken'])[]
  }
  readonly AdminOrg: {
    readonly href?: string
    readonly type?: string
    readonly id?: string
    /** Since 5.1. The same key in a request is the same request, as with the header Idempotency-Key. */
    readonly operationKey?: string
    readonly name: string
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly description?: string
    readonly tasks?: CloudDocuments['Tasks']
    readonly fullName?: string
    readonly isEnabled?: boolean
    readonly quota?: CloudDocuments['Quota']
    /** What counts against the quota now: storage is disks, snapshots, saved memory, templates and uploads. Not for requests. */
    readonly used?: CloudDocuments['Quota']
    readonly leases?: CloudDocuments['Leases']
    /** Whether users with a password need a second factor. Who has none may only add one. */
    readonly secondFactorRequired?: boolean
    readonly users?: CloudDocuments['Users']
    readonly vdcs?: CloudDocuments['Vdcs']
  }
  readonly AdminOrgInput: {
    readonly href?: string
    readonly type?: string
    readonly id?: string
    /** Since 5.1. The same key in a request is the same request, as with the header Idempotency-Key. */
    readonly operationKey?: string
    readonly name?: string
    readonly link?: readonly (CloudDocuments['LinkInput'])[]
    readonly description?: string
    readonly tasks?: CloudDocuments['TasksInput']
    readonly fullName?: string
    readonly isEnabled?: boolean
    readonly quota?: CloudDocuments['QuotaInput']
    /** What counts against the quota now: storage is disks, snapshots, saved memory, templates and uploads. Not for requests. */
    readonly used?: CloudDocuments['QuotaInput']
    readonly leases?: CloudDocuments['LeasesInput']
    /** Whether users with a password need a second factor. Who has none may only add one. */
    readonly secondFactorRequired?: boolean
    readonly users?: CloudDocuments['UsersInput']
    readonly vdcs?: CloudDocuments['VdcsInput']
  }
  readonly AdminTaskRecord: {
    readonly href?: string
    readonly id?: string
    readonly name?: string
    readonly org?: string
    readonly orgName?: string
    readonly startDate?: string
    readonly endDate?: string
    readonly status?: 'queued' | 'running' | 'success' | 'error' | 'canceled'
    readonly ownerName?: string
    readonly object?: string
    readonly objectType?: string
    readonly objectName?: string
    readonly operation?: string
    readonly progress?: number
    readonly parent?: string
    readonly isInBulk?: boolean
    readonly message?: string
    readonly waitReason?: 'turn' | 'order' | 'source' | 'source-host' | 'host-out' | 'host-quarantine' | 'host-silent' | 'pending-undo' | 'claim' | 'host-limit' | 'org-limit' | 'worker' | 'room' | 'retry'
    readonly waitMessage?: string
    readonly waitingSince?: string
    readonly attempts?: number
    readonly lastFailure?: string
    readonly givesUpAt?: string
    readonly serviceNamespace?: string
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly metadata?: CloudDocuments['Metadata']
  }
  readonly AdminVAppRecord: {
    readonly href?: string
    readonly id?: string
    readonly name?: string
    readonly vdc?: string
    readonly vdcName?: string
    readonly org?: string
    readonly orgName?: string
    readonly isPublic?: boolean
    readonly isEnabled?: boolean
    readonly isBusy?: boolean
    readonly creationDate?: string
    readonly status?: 'FAILED_CREATION' | 'UNRESOLVED' | 'RESOLVED' | 'SUSPENDED' | 'POWERED_ON' | 'POWERED_OFF' | 'UNKNOWN' | 'MIXED' | 'MISSING' | 'LOST'
    readonly owner?: string
    readonly ownerName?: string
    readonly isDeployed?: boolean
    readonly isInMaintenanceMode?: boolean
    readonly isExpired?: boolean
    readonly isVdcEnabled?: boolean
    readonly numberOfVMs?: number
    readonly numberOfCpus?: number
    readonly memoryMB?: number
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly metadata?: CloudDocuments['Metadata']
  }
  readonly AdminVMRecord: {
    readonly href?: string
    readonly id?: string
    readonly name?: string
    readonly containerName?: string
    readonly container?: string
    readonly vdc?: string
    readonly vdcName?: string
    readonly org?: string
    readonly orgName?: string
    readonly owner?: string
    readonly ownerName?: string
    readonly host?: string
    readonly hostName?: string
    readonly isVAppTemplate?: boolean
    readonly isDeleted?: boolean
    readonly guestOs?: string
    readonly numberOfCpus?: number
    readonly memoryMB?: number
    readonly diskMB?: number
    readonly status?: 'FAILED_CREATION' | 'UNRESOLVED' | 'RESOLVED' | 'SUSPENDED' | 'POWERED_ON' | 'POWERED_OFF' | 'UNKNOWN' | 'MIXED' | 'MISSING' | 'LOST'
    readonly networkName?: string
    readonly ipAddress?: string
    readonly isBusy?: boolean
    readonly isDeployed?: boolean
    readonly isPublished?: boolean
    readonly catalogName?: string
    readonly hardwareVersion?: number
    readonly isVdcEnabled?: boolean
    readonly vmToolsVersion?: number
    readonly datastoreName?: string
    readonly storageProfileName?: string
    readonly dateCreated?: string
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly metadata?: CloudDocuments['Metadata']
  }
  readonly AdminVdc: {
    readonly href?: string
    readonly type?: string
    readonly id?: string
    /** Since 5.1. The same key in a request is the same request, as with the header Idempotency-Key. */
    readonly operationKey?: string
    readonly name: string
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly description?: string
    readonly tasks?: CloudDocuments['Tasks']
    readonly isEnabled?: boolean
  }
  readonly AdminVdcInput: {
    readonly href?: string
    readonly type?: string
    readonly id?: string
    /** Since 5.1. The same key in a request is the same request, as with the header Idempotency-Key. */
    readonly operationKey?: string
    readonly name?: string
    readonly link?: readonly (CloudDocuments['LinkInput'])[]
    readonly description?: string
    readonly tasks?: CloudDocuments['TasksInput']
    readonly isEnabled?: boolean
  }
  /** The addresses of a network that VMs have. */
  readonly AllocatedIpAddresses: {
    readonly href?: string
    readonly type?: string
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly ipAddress: readonly (CloudDocuments['AllocatedIpAddressesIpAddress'])[]
  }
  readonly AllocatedIpAddressesIpAddress: {
    readonly allocationType?: string
    readonly isDeployed?: boolean
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly ipAddress: string
  }
  /** How much of something may be used, and is. Limit 0: as much as there is. */
  readonly Capacity: {
    readonly units: string
    readonly allocated: number
    readonly limit: number
    readonly used: number
  }
  readonly Catalog: {
    readonly href?: string
    readonly type?: string
    readonly id?: string
    /** Since 5.1. The same key in a request is the same request, as with the header Idempotency-Key. */
    readonly operationKey?: string
    readonly name: string
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly description?: string
    readonly tasks?: CloudDocuments['Tasks']
    /** Since 5.1, with ?unavailable=true. Something to do that has no link now, and why. */
    readonly unavailable: readonly (CloudDocuments['Unavailable'])[]
    readonly catalogItems: CloudDocuments['CatalogCatalogItems']
    readonly isPublished: boolean
    readonly dateCreated: string
  }
  readonly CatalogCatalogItems: {
    readonly catalogItem: readonly (CloudDocuments['Reference'])[]
  }
  readonly CatalogItem: {
    readonly href?: string
    readonly type?: string
    readonly id?: string
    /** Since 5.1. The same key in a request is the same request, as with the header Idempotency-Key. */
    readonly operationKey?: string
    readonly name: string
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly description?: string
    readonly tasks?: CloudDocuments['Tasks']
    readonly entity: CloudDocuments['Reference']
    readonly dateCreated: string
  }
  readonly CatalogRecord: {
    readonly href?: string
    readonly id?: string
    readonly name?: string
    readonly description?: string
    readonly org?: string
    readonly orgName?: string
    readonly isPublished?: boolean
    readonly isShared?: boolean
    readonly creationDate?: string
    readonly owner?: string
    readonly ownerName?: string
    readonly numberOfVAppTemplates?: number
    readonly numberOfMedia?: number
    readonly status?: string
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly metadata?: CloudDocuments['Metadata']
  }
  readonly CatalogReferences: {
    readonly href?: string
    readonly type?: string
    readonly name: string
    readonly page: number
    readonly pageSize: number
    readonly total: number
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly catalogReference: readonly (CloudDocuments['Reference'])[]
  }
  readonly Cell: {
    readonly name: string
    /** Whether it sent a heartbeat in the last 15 s. */
    readonly isAlive: boolean
    /** Whether it may follow hosts: its clock, its certificate and its way to the hosts are right. */
    readonly isFit: boolean
    readonly lastSeen: string
    readonly version?: string
    readonly numberOfHosts: number
    readonly condition: readonly (CloudDocuments['Condition'])[]
  }
  readonly Cells: {
    readonly href?: string
    readonly type?: string
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly cell: readonly (CloudDocuments['Cell'])[]
  }
  readonly CloneVAppParams: {
    readonly name: string
    readonly deploy?: boolean
    readonly powerOn?: boolean
    readonly operationKey?: string
    readonly description?: string
    readonly instantiationParams?: CloudDocuments['InstantiationParams']
    readonly source: CloudDocuments['ReferenceInput']
    readonly isSourceDelete?: boolean
  }
  readonly Cloud: {
    readonly href?: string
    readonly type?: string
    readonly id?: string
    /** Since 5.1. The same key in a request is the same request, as with the header Idempotency-Key. */
    readonly operationKey?: string
    readonly name: string
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly description?: string
    readonly tasks?: CloudDocuments['Tasks']
    readonly organizations: CloudDocuments['CloudOrganizations']
    readonly roles: CloudDocuments['CloudRoles']
  }
  readonly CloudOrganizations: {
    readonly organization: readonly (CloudDocuments['Reference'])[]
  }
  readonly CloudRoles: {
    readonly role: readonly (CloudDocuments['Role'])[]
  }
  readonly ComposeVAppParams: {
    readonly name: string
    readonly deploy?: boolean
    readonly powerOn?: boolean
    readonly operationKey?: string
    readonly description?: string
    readonly instantiationParams?: CloudDocuments['InstantiationParams']
    readonly sourcedItem?: readonly (CloudDocuments['SourcedItem'])[]
    readonly allEULAsAccepted?: boolean
  }
  /** One check of a cell: what it found and, if not ok, what to do. */
  readonly Condition: {
    readonly name: string
    readonly isOk: boolean
    readonly since: string
    readonly value: string
  }
  /** An open screen of a VM. */
  readonly Console: {
    readonly id: string
    readonly userName: string
    readonly userAddress?: string
    /** The organisation of the VM. */
    readonly orgName: string
    readonly containerName: string
    readonly vmName: string
    readonly vm: string
    /** The console server that shows it. */
    readonly server: string
    readonly openedAt: string
    /** Transferred so far, in both directions. */
    readonly bytes: number
    readonly link: readonly (CloudDocuments['Link'])[]
  }
  readonly Consoles: {
    readonly href?: string
    readonly type?: string
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly console: readonly (CloudDocuments['Console'])[]
  }
  /** With whom a vApp or a catalog is shared: the whole list. */
  readonly ControlAccessParams: {
    readonly href?: string
    readonly type?: string
    readonly link: readonly (CloudDocuments['Link'])[]
    /** In its organisation. */
    readonly isSharedToEveryone: boolean
    /** Only if it is shared to everyone. */
    readonly everyoneAccessLevel?: 'ReadOnly' | 'Change' | 'FullControl'
    readonly accessSettings?: CloudDocuments['ControlAccessParamsAccessSettings']
  }
  readonly ControlAccessParamsAccessSettings: {
    readonly accessSetting: readonly (CloudDocuments['AccessSetting'])[]
  }
  readonly ControlAccessParamsAccessSettingsInput: {
    readonly accessSetting?: readonly (CloudDocuments['AccessSettingInput'])[]
  }
  /** With whom a vApp or a catalog is shared: the whole list. */
  readonly ControlAccessParamsInput: {
    readonly href?: string
    readonly type?: string
    readonly link?: readonly (CloudDocuments['LinkInput'])[]
    /** In its organisation. */
    readonly isSharedToEveryone?: boolean
    /** Only if it is shared to everyone. */
    readonly everyoneAccessLevel?: 'ReadOnly' | 'Change' | 'FullControl'
    readonly accessSettings?: CloudDocuments['ControlAccessParamsAccessSettingsInput']
  }
  readonly CreateSnapshotParams: {
    readonly name?: string
    readonly memory?: boolean
    readonly quiesce?: boolean
    readonly description?: string
  }
  readonly DeployVAppParams: {
    readonly powerOn?: boolean
    readonly deploymentLeaseSeconds?: number
    readonly forceCustomization?: boolean
  }
  readonly Digest: {
    readonly algorithm: string
    readonly value: string
  }
  readonly EdgeGateway: {
    readonly href?: string
    readonly type?: string
    readonly id?: string
    /** Since 5.1. The same key in a request is the same request, as with the header Idempotency-Key. */
    readonly operationKey?: string
    readonly name: string
    /** 1: ready. 0: a change is on its way to the hosts. */
    readonly status?: number
    /** Each change raises it. */
    readonly version?: number
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly description?: string
    readonly tasks?: CloudDocuments['Tasks']
    readonly configuration?: CloudDocuments['EdgeGatewayConfiguration']
  }
  readonly EdgeGatewayConfiguration: {
    readonly gatewayBackingConfig?: string
    readonly gatewayInterfaces?: CloudDocuments['EdgeGatewayConfigurationGatewayInterfaces']
    readonly edgeGatewayServiceConfiguration?: CloudDocuments['GatewayFeatures']
    readonly haEnabled?: boolean
  }
  readonly EdgeGatewayConfigurationGatewayInterfaces: {
    readonly gatewayInterface: readonly (CloudDocuments['GatewayInterface'])[]
  }
  readonly EdgeGatewayConfigurationGatewayInterfacesInput: {
    readonly gatewayInterface?: readonly (CloudDocuments['GatewayInterfaceInput'])[]
  }
  readonly EdgeGatewayConfigurationInput: {
    readonly gatewayBackingConfig?: string
    readonly gatewayInterfaces?: CloudDocuments['EdgeGatewayConfigurationGatewayInterfacesInput']
    readonly edgeGatewayServiceConfiguration?: CloudDocuments['GatewayFeaturesInput']
    readonly haEnabled?: boolean
  }
  readonly EdgeGatewayInput: {
    readonly href?: string
    readonly type?: string
    readonly id?: string
    /** Since 5.1. The same key in a request is the same request, as with the header Idempotency-Key. */
    readonly operationKey?: string
    readonly name?: string
    /** 1: ready. 0: a change is on its way to the hosts. */
    readonly status?: number
    /** Each change raises it. */
    readonly version?: number
    readonly link?: readonly (CloudDocuments['LinkInput'])[]
    readonly description?: string
    readonly tasks?: CloudDocuments['TasksInput']
    readonly configuration?: CloudDocuments['EdgeGatewayConfigurationInput']
  }
  readonly EdgeGatewayRecord: {
    readonly href?: string
    readonly id?: string
    readonly name?: string
    readonly org?: string
    readonly orgName?: string
    readonly vdc?: string
    readonly vdcName?: string
    readonly externalNetworkName?: string
    readonly ipAddress?: string
    readonly numberOfExtNetworks?: number
    readonly numberOfOrgNetworks?: number
    readonly numberOfExternalAddresses?: number
    readonly numberOfNatRules?: number
    readonly numberOfFirewallRules?: number
    readonly gatewayStatus?: string
    readonly haStatus?: string
    readonly isBusy?: boolean
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly metadata?: CloudDocuments['Metadata']
  }
  readonly EdgeGatewayReferences: {
    readonly href?: string
    readonly type?: string
    readonly name: string
    readonly page: number
    readonly pageSize: number
    readonly total: number
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly edgeGatewayReference: readonly (CloudDocuments['Reference'])[]
  }
  /** A thing with a name. */
  readonly Entity: {
    readonly href?: string
    readonly type?: string
    readonly id?: string
    /** Since 5.1. The same key in a request is the same request, as with the header Idempotency-Key. */
    readonly operationKey?: string
    readonly name: string
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly description?: string
    readonly tasks?: CloudDocuments['Tasks']
  }
  readonly Error: {
    /** The HTTP status. */
    readonly majorErrorCode: number
    /** One word for a program. */
    readonly minorErrorCode: string
    /** For people: what was expected, and what to do next. */
    readonly message: string
  }
  readonly ErrorInput: {
    /** The HTTP status. */
    readonly majorErrorCode?: number
    /** One word for a program. */
    readonly minorErrorCode?: string
    /** For people: what was expected, and what to do next. */
    readonly message?: string
  }
  readonly EventRecord: {
    readonly href?: string
    readonly id?: string
    readonly eventType?: string
    readonly timeStamp?: string
    readonly eventStatus?: number
    readonly user?: string
    readonly userName?: string
    readonly org?: string
    readonly orgName?: string
    readonly entity?: string
    readonly entityType?: string
    readonly entityName?: string
    readonly description?: string
    readonly serviceNamespace?: string
    readonly userAddress?: string
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly metadata?: CloudDocuments['Metadata']
  }
  readonly EventReferences: {
    readonly href?: string
    readonly type?: string
    readonly name: string
    readonly page: number
    readonly pageSize: number
    readonly total: number
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly eventReference: readonly (CloudDocuments['Reference'])[]
  }
  readonly ExternalAddress: {
    readonly href?: string
    readonly type?: string
    readonly operationKey?: string
    readonly link: readonly (CloudDocuments['Link'])[]
    /** Default in requests: the next free one. */
    readonly ipAddress?: string
    /** Whether a NAT rule names it: it cannot be released then. */
    readonly isInUse?: boolean
  }
  readonly ExternalAddressInput: {
    readonly href?: string
    readonly type?: string
    readonly operationKey?: string
    readonly link?: readonly (CloudDocuments['LinkInput'])[]
    /** Default in requests: the next free one. */
    readonly ipAddress?: string
    /** Whether a NAT rule names it: it cannot be released then. */
    readonly isInUse?: boolean
  }
  /** The external addresses that the organisation took for an edge gateway. */
  readonly ExternalAddresses: {
    readonly href?: string
    readonly type?: string
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly externalAddress: readonly (CloudDocuments['ExternalAddress'])[]
  }
  readonly ExternalNetworkReferences: {
    readonly href?: string
    readonly type?: string
    readonly name: string
    readonly page: number
    readonly pageSize: number
    readonly total: number
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly externalNetworkReference: readonly (CloudDocuments['Reference'])[]
  }
  /** Addresses are Any, internal, external, an address, a network such as 10.0.0.0/24 or a range such as 10.0.0.5-10.0.0.9. Ports are Any, a port or a range such as 8000-8099. */
  readonly FirewallRule: {
    /** A rule with a known id keeps it; others get the next. */
    readonly id?: string
    readonly isEnabled?: boolean
    readonly matchOnTranslate?: boolean
    readonly description?: string
    readonly policy?: 'allow' | 'drop'
    readonly protocols?: CloudDocuments['FirewallRuleProtocols']
    /** The destination port; -1 for any and for a range. */
    readonly port?: number
    readonly destinationPortRange?: string
    readonly destinationIp?: string
    readonly sourcePort?: number
    readonly sourcePortRange?: string
    readonly sourceIp?: string
    /** Default: out for a rule whose source is internal, otherwise in. */
    readonly direction?: 'in' | 'out'
    readonly enableLogging?: boolean
  }
  /** Addresses are Any, internal, external, an address, a network such as 10.0.0.0/24 or a range such as 10.0.0.5-10.0.0.9. Ports are Any, a port or a range such as 8000-8099. */
  readonly FirewallRuleInput: {
    /** A rule with a known id keeps it; others get the next. */
    readonly id?: string
    readonly isEnabled?: boolean
    readonly matchOnTranslate?: boolean
    readonly description?: string
    readonly policy?: 'allow' | 'drop'
    readonly protocols?: CloudDocuments['FirewallRuleProtocolsInput']
    /** The destination port; -1 for any and for a range. */
    readonly port?: number
    readonly destinationPortRange?: string
    readonly destinationIp?: string
    readonly sourcePort?: number
    readonly sourcePortRange?: string
    readonly sourceIp?: string
    /** Default: out for a rule whose source is internal, otherwise in. */
    readonly direction?: 'in' | 'out'
    readonly enableLogging?: boolean
  }
  readonly FirewallRuleProtocols: {
    readonly icmp?: boolean
    readonly any?: boolean
    readonly tcp?: boolean
    readonly udp?: boolean
  }
  readonly FirewallRuleProtocolsInput: {
    readonly icmp?: boolean
    readonly any?: boolean
    readonly tcp?: boolean
    readonly udp?: boolean
  }
  readonly FirewallService: {
    readonly isEnabled?: boolean
    /** For packets from outside that no rule matches. Default: drop. */
    readonly defaultAction?: 'allow' | 'drop'
    readonly logDefaultAction?: boolean
    readonly firewallRule: readonly (CloudDocuments['FirewallRule'])[]
  }
  readonly FirewallServiceInput: {
    readonly isEnabled?: boolean
    /** For packets from outside that no rule matches. Default: drop. */
    readonly defaultAction?: 'allow' | 'drop'
    readonly logDefaultAction?: boolean
    readonly firewallRule?: readonly (CloudDocuments['FirewallRuleInput'])[]
  }
  /** In a request a service replaces that service; services that are missing stay. */
  readonly GatewayFeatures: {
    /** The version of the edge gateway that was read. The request is refused if it has changed since. */
    readonly version?: number
    readonly operationKey?: string
    readonly firewallService?: CloudDocuments['FirewallService']
    readonly natService?: CloudDocuments['NatService']
    readonly staticRoutingService?: CloudDocuments['StaticRoutingService']
  }
  /** In a request a service replaces that service; services that are missing stay. */
  readonly GatewayFeaturesInput: {
    /** The version of the edge gateway that was read. The request is refused if it has changed since. */
    readonly version?: number
    readonly operationKey?: string
    readonly firewallService?: CloudDocuments['FirewallServiceInput']
    readonly natService?: CloudDocuments['NatServiceInput']
    readonly staticRoutingService?: CloudDocuments['StaticRoutingServiceInput']
  }
  readonly GatewayInterface: {
    readonly name?: string
    readonly displayName?: string
    readonly network: CloudDocuments['OptionalReference']
    /** uplink: to the external network. internal: to a network of the organisation. */
    readonly interfaceType: 'uplink' | 'internal'
    readonly subnetParticipation?: CloudDocuments['SubnetParticipation']
    readonly useForDefaultRoute?: boolean
  }
  readonly GatewayInterfaceInput: {
    readonly name?: string
    readonly displayName?: string
    readonly network?: CloudDocuments['OptionalReferenceInput']
    /** uplink: to the external network. internal: to a network of the organisation. */
    readonly interfaceType?: 'uplink' | 'internal'
    readonly subnetParticipation?: CloudDocuments['SubnetParticipationInput']
    readonly useForDefaultRoute?: boolean
  }
  readonly GatewayNatRule: {
    /** The external network. An edge gateway has one, so it may be omitted. */
    readonly interface?: CloudDocuments['OptionalReference']
    readonly originalIp: string
    /** Of DNAT. Missing or any: all packets to the external address, and those of the internal one leave by it. */
    readonly originalPort?: string
    readonly translatedIp: string
    /** Default: OriginalPort. */
    readonly translatedPort?: string
    /** tcp or udp of a port. Default: tcp. */
    readonly protocol?: string
  }
  readonly GatewayNatRuleInput: {
    /** The external network. An edge gateway has one, so it may be omitted. */
    readonly interface?: CloudDocuments['OptionalReferenceInput']
    readonly originalIp?: string
    /** Of DNAT. Missing or any: all packets to the external address, and those of the internal one leave by it. */
    readonly originalPort?: string
    readonly translatedIp?: string
    /** Default: OriginalPort. */
    readonly translatedPort?: string
    /** tcp or udp of a port. Default: tcp. */
    readonly protocol?: string
  }
  readonly GroupRole: {
    /** The name of a group at the identity server, or its DN. */
    readonly name: string
    readonly role: string
  }
  readonly GroupRoleInput: {
    /** The name of a group at the identity server, or its DN. */
    readonly name?: string
    readonly role?: string
  }
  /** All groups that have a role. */
  readonly GroupRoles: {
    readonly groupRole?: readonly (CloudDocuments['GroupRoleInput'])[]
  }
  /** No section ever holds a password. */
  readonly GuestCustomizationSection: {
    readonly required?: boolean
    readonly href?: string
    readonly type?: string
    readonly info: string
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly enabled: boolean
    readonly adminPasswordEnabled: boolean
    readonly adminPasswordAuto: boolean
    readonly resetPasswordRequired: boolean
    readonly computerName: string
  }
  /** No section ever holds a password. */
  readonly GuestCustomizationSectionInput: {
    readonly required?: boolean
    readonly href?: string
    readonly type?: string
    readonly info?: string
    readonly link?: readonly (CloudDocuments['LinkInput'])[]
    readonly enabled?: boolean
    readonly adminPasswordEnabled?: boolean
    readonly adminPasswordAuto?: boolean
    readonly resetPasswordRequired?: boolean
    readonly computerName?: string
  }
  /** What cloud-init gives to the guest at its first start. No one else can read it, and it is not kept. */
  readonly GuestParams: {
    /** One label of a DNS name. Default: made of the VM's name. */
    readonly computerName?: string
    /** One line as in a .pub file: lets its owner in as the image's first user. */
    readonly sshKey?: readonly (string)[]
    /** A document of cloud-init, of at most 16384 bytes. White space before it does not count. */
    readonly userData?: string
  }
  readonly Host: {
    readonly href?: string
    readonly type?: string
    readonly id?: string
    /** Since 5.1. The same key in a request is the same request, as with the header Idempotency-Key. */
    readonly operationKey?: string
    readonly name: string
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly description?: string
    readonly tasks?: CloudDocuments['Tasks']
    readonly state: 'joined' | 'revoked' | 'lost'
    readonly isEnabled: boolean
    /** Whether a cell follows it, so that work can be sent to it. */
    readonly isOpen: boolean
    /** Why nothing is sent to it until a person decides. */
    readonly quarantine?: string
    readonly lastSeen?: string
    readonly version?: string
    readonly cpu: CloudDocuments['Capacity']
    readonly memory: CloudDocuments['Capacity']
    readonly storage: CloudDocuments['Capacity']
  }
  readonly HostRecord: {
    readonly href?: string
    readonly id?: string
    readonly name?: string
    readonly state?: string
    readonly isEnabled?: boolean
    readonly isBusy?: boolean
    readonly isOpen?: boolean
    readonly isHung?: boolean
    readonly version?: string
    readonly cellName?: string
    readonly address?: string
    readonly numOfCpusLogical?: number
    readonly cpusUsed?: number
    readonly memTotal?: number
    readonly memUsed?: number
    readonly storageTotal?: number
    readonly storageUsed?: number
    readonly numberOfVMs?: number
    readonly lastSeen?: string
    readonly quarantine?: string
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly metadata?: CloudDocuments['Metadata']
  }
  readonly HostReferences: {
    readonly href?: string
    readonly type?: string
    readonly name: string
    readonly page: number
    readonly pageSize: number
    readonly total: number
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly hostReference: readonly (CloudDocuments['Reference'])[]
  }
  readonly Hosts: {
    readonly href?: string
    readonly type?: string
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly host: readonly (CloudDocuments['Reference'])[]
  }
  /** A server that proves users of an organisation, and knows their groups. */
  readonly IdentityProvider: {
    readonly href?: string
    readonly type?: string
    readonly id?: string
    /** Since 5.1. The same key in a request is the same request, as with the header Idempotency-Key. */
    readonly operationKey?: string
    readonly name: string
    readonly kind?: string
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly description?: string
    readonly tasks?: CloudDocuments['Tasks']
    readonly isEnabled?: boolean
    /** Of ldap: ldaps://…, or ldap://… with StartTls; the first that answers is used. Of oidc: the issuer, https://…. */
    readonly url: readonly (string)[]
    readonly startTls?: boolean
    /** PEM certificates of its issuers. Default: those that a cell trusts. */
    readonly ca?: string
    /** Of ldap: the DN that searches for people and groups. */
    readonly reader?: string
    /** Of oidc: the client id of this cloud at the identity server. */
    readonly client?: string
    /** Of the Reader, or the secret of the Client. In requests only. */
    readonly password?: string
    /** Of oidc: what is asked for, separated by spaces. Default: openid profile groups. */
    readonly scopes?: string
    readonly claims?: CloudDocuments['IdentityProviderClaims']
    /** Of oidc: alice@DOMAIN is alice here; other domains are refused. */
    readonly domain?: string
    /** Of oidc: a way to log in there of which one is required. */
    readonly acr: readonly (string)[]
    /** Of oidc: who has not logged in there for so many days loses all access. Default: 30. */
    readonly proofDays?: number
    /** Of oidc: the address that the identity server must know. Not for requests. */
    readonly redirectUrl?: string
    /** Of oidc: the address for back-channel logout. Not for requests. */
    readonly logoutUrl?: string
    /** Of ldap: where People and Groups are, unless they have a base of their own. */
    readonly base?: string
    readonly people?: CloudDocuments['IdentityProviderPeople']
    readonly groups?: CloudDocuments['IdentityProviderGroups']
    readonly groupRole: readonly (CloudDocuments['GroupRole'])[]
    readonly silentSince?: string
    readonly doubtedSince?: string
  }
  readonly IdentityProviderClaims: {
    /** The claim that is the name of a user. Default: preferred_username. */
    readonly name?: string
    /** The claim that lists groups. Default: groups. */
    readonly groups?: string
  }
  readonly IdentityProviderClaimsInput: {
    /** The claim that is the name of a user. Default: preferred_username. */
    readonly name?: string
    /** The claim that lists groups. Default: groups. */
    readonly groups?: string
  }
  readonly IdentityProviderGroups: {
    readonly base?: string
    readonly member?: string
    readonly name?: string
    /** How groups in groups are found: levels, or rule for Active Directory. */
    readonly nested?: string
  }
  readonly IdentityProviderGroupsInput: {
    readonly base?: string
    readonly member?: string
    readonly name?: string
    /** How groups in groups are found: levels, or rule for Active Directory. */
    readonly nested?: string
  }
  /** A server that proves users of an organisation, and knows their groups. */
  readonly IdentityProviderInput: {
    readonly href?: string
    readonly type?: string
    readonly id?: string
    /** Since 5.1. The same key in a request is the same request, as with the header Idempotency-Key. */
    readonly operationKey?: string
    readonly name?: string
    readonly kind?: string
    readonly link?: readonly (CloudDocuments['LinkInput'])[]
    readonly description?: string
    readonly tasks?: CloudDocuments['TasksInput']
    readonly isEnabled?: boolean
    /** Of ldap: ldaps://…, or ldap://… with StartTls; the first that answers is used. Of oidc: the issuer, https://…. */
    readonly url?: readonly (string)[]
    readonly startTls?: boolean
    /** PEM certificates of its issuers. Default: those that a cell trusts. */
    readonly ca?: string
    /** Of ldap: the DN that searches for people and groups. */
    readonly reader?: string
    /** Of oidc: the client id of this cloud at the identity server. */
    readonly client?: string
    /** Of the Reader, or the secret of the Client. In requests only. */
    readonly password?: string
    /** Of oidc: what is asked for, separated by spaces. Default: openid profile groups. */
    readonly scopes?: string
    readonly claims?: CloudDocuments['IdentityProviderClaimsInput']
    /** Of oidc: alice@DOMAIN is alice here; other domains are refused. */
    readonly domain?: string
    /** Of oidc: a way to log in there of which one is required. */
    readonly acr?: readonly (string)[]
    /** Of oidc: who has not logged in there for so many days loses all access. Default: 30. */
    readonly proofDays?: number
    /** Of oidc: the address that the identity server must know. Not for requests. */
    readonly redirectUrl?: string
    /** Of oidc: the address for back-channel logout. Not for requests. */
    readonly logoutUrl?: string
    /** Of ldap: where People and Groups are, unless they have a base of their own. */
    readonly base?: string
    readonly people?: CloudDocuments['IdentityProviderPeopleInput']
    readonly groups?: CloudDocuments['IdentityProviderGroupsInput']
    readonly groupRole?: readonly (CloudDocuments['GroupRoleInput'])[]
    readonly silentSince?: string
    readonly doubtedSince?: string
  }
  readonly IdentityProviderPeople: {
    readonly base?: string
    readonly filter?: string
    /** The attribute that users type as their name: uid, sAMAccountName. */
    readonly name?: string
    /** The attribute that stays the same when a person is renamed: entryUUID, objectGUID. */
    readonly subject?: string
  }
  readonly IdentityProviderPeopleInput: {
    readonly base?: string
    readonly filter?: string
    /** The attribute that users type as their name: uid, sAMAccountName. */
    readonly name?: string
    /** The attribute that stays the same when a person is renamed: entryUUID, objectGUID. */
    readonly subject?: string
  }
  /** What an identity server answered to its reader. */
  readonly IdentityProviderTest: {
    readonly type?: string
    readonly answers: boolean
    readonly people?: number
    readonly groups?: number
    readonly message: string
  }
  /** The identity servers of an organisation. */
  readonly IdentityProviders: {
    readonly href?: string
    readonly type?: string
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly identityProviderReference: readonly (CloudDocuments['Reference'])[]
  }
  readonly InstantiateVAppTemplateParams: {
    readonly name: string
    readonly deploy?: boolean
    readonly powerOn?: boolean
    readonly operationKey?: string
    readonly description?: string
    readonly instantiationParams?: CloudDocuments['InstantiationParams']
    readonly source: CloudDocuments['ReferenceInput']
    /** The VM of the template. */
    readonly sourcedItem?: CloudDocuments['SourcedItem']
    readonly allEULAsAccepted?: boolean
    readonly guestCustomizationSection?: CloudDocuments['GuestParams']
  }
  /** The networks of new VMs. Default: the network called default of the vdc. */
  readonly InstantiationParams: {
    readonly networkConfigSection?: CloudDocuments['InstantiationParamsNetworkConfigSection']
    readonly networkConnectionSection?: CloudDocuments['InstantiationParamsNetworkConnectionSection']
  }
  readonly InstantiationParamsNetworkConfigSection: {
    readonly networkConfig?: readonly (CloudDocuments['InstantiationParamsNetworkConfigSectionNetworkConfig'])[]
  }
  readonly InstantiationParamsNetworkConfigSectionNetworkConfig: {
    readonly networkName: string
    readonly configuration?: CloudDocuments['InstantiationParamsNetworkConfigSectionNetworkConfigConfiguration']
  }
  readonly InstantiationParamsNetworkConfigSectionNetworkConfigConfiguration: {
    readonly parentNetwork?: CloudDocuments['ReferenceInput']
    readonly fenceMode?: string
  }
  readonly InstantiationParamsNetworkConnectionSection: {
    readonly networkConnection?: readonly (CloudDocuments['NetworkConnectionParams'])[]
  }
  readonly IpRange: {
    readonly startAddress: string
    readonly endAddress: string
  }
  readonly IpRangeInput: {
    readonly startAddress?: string
    readonly endAddress?: string
  }
  /** The addresses of a network, with a netmask from 255.255.0.0 to 255.255.255.248. */
  readonly IpScope: {
    readonly isInherited?: boolean
    readonly gateway?: string
    readonly netmask?: string
    readonly dns1?: string
    readonly dns2?: string
    readonly dnsSuffix?: string
    readonly isEnabled?: boolean
    /** The pool from which addresses are chosen. Default: all addresses but the gateway. */
    readonly ipRanges?: CloudDocuments['IpScopeIpRanges']
  }
  /** The addresses of a network, with a netmask from 255.255.0.0 to 255.255.255.248. */
  readonly IpScopeInput: {
    readonly isInherited?: boolean
    readonly gateway?: string
    readonly netmask?: string
    readonly dns1?: string
    readonly dns2?: string
    readonly dnsSuffix?: string
    readonly isEnabled?: boolean
    /** The pool from which addresses are chosen. Default: all addresses but the gateway. */
    readonly ipRanges?: CloudDocuments['IpScopeIpRangesInput']
  }
  /** The pool from which addresses are chosen. Default: all addresses but the gateway. */
  readonly IpScopeIpRanges: {
    readonly ipRange: readonly (CloudDocuments['IpRange'])[]
  }
  /** The pool from which addresses are chosen. Default: all addresses but the gateway. */
  readonly IpScopeIpRangesInput: {
    readonly ipRange?: readonly (CloudDocuments['IpRangeInput'])[]
  }
  /** Processors or memory of a VM, at an address of its own. */
  readonly Item: {
    readonly href?: string
    readonly type?: string
    readonly allocationUnits?: string
    readonly description: string
    readonly elementName: string
    readonly instanceID: number
    readonly resourceType: number
    readonly virtualQuantity: number
    readonly link: readonly (CloudDocuments['Link'])[]
  }
  /** Processors or memory of a VM, at an address of its own. */
  readonly ItemInput: {
    readonly href?: string
    readonly type?: string
    readonly allocationUnits?: string
    readonly description?: string
    readonly elementName?: string
    readonly instanceID?: number
    readonly resourceType?: number
    readonly virtualQuantity?: number
    readonly link?: readonly (CloudDocuments['LinkInput'])[]
  }
  readonly ItemType: {
    readonly allocationUnits?: string
    readonly description: string
    readonly elementName: string
    readonly instanceID: number
    readonly resourceType: number
    readonly virtualQuantity: number
  }
  readonly ItemTypeInput: {
    readonly allocationUnits?: string
    readonly description?: string
    readonly elementName?: string
    readonly instanceID?: number
    readonly resourceType?: number
    readonly virtualQuantity?: number
  }
  /** When it is stopped, and when it may be deleted. 0: never. */
  readonly LeaseSettingsSection: {
    readonly required?: boolean
    readonly href?: string
    readonly type?: string
    readonly info: string
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly deploymentLeaseInSeconds: number
    readonly storageLeaseInSeconds: number
    readonly deploymentLeaseExpiration?: string
    readonly storageLeaseExpiration?: string
  }
  /** When it is stopped, and when it may be deleted. 0: never. */
  readonly LeaseSettingsSectionInput: {
    readonly required?: boolean
    readonly href?: string
    readonly type?: string
    readonly info?: string
    readonly link?: readonly (CloudDocuments['LinkInput'])[]
    readonly deploymentLeaseInSeconds?: number
    readonly storageLeaseInSeconds?: number
    readonly deploymentLeaseExpiration?: string
    readonly storageLeaseExpiration?: string
  }
  /** How long vApps may run, and are kept when they do not, in seconds: what is usual, and the most that there may be. 0: for ever. */
  readonly Leases: {
    readonly deploymentDefault?: number
    readonly deploymentMax?: number
    readonly storageDefault?: number
    readonly storageMax?: number
  }
  /** How long vApps may run, and are kept when they do not, in seconds: what is usual, and the most that there may be. 0: for ever. */
  readonly LeasesInput: {
    readonly deploymentDefault?: number
    readonly deploymentMax?: number
    readonly storageDefault?: number
    readonly storageMax?: number
  }
  readonly Link: {
    readonly href: string
    readonly id?: string
    readonly name?: string
    readonly type?: string
    readonly rel: 'up' | 'down' | 'alternate' | 'entityResolver' | 'firstPage' | 'previousPage' | 'nextPage' | 'lastPage' | 'add' | 'edit' | 'remove' | 'enable' | 'disable' | 'test' | 'resend' | 'replaceSecret' | 'confirm' | 'replaceRecoveryCodes' | 'removeSecondFactors' | 'deploy' | 'undeploy' | 'discardState' | 'recompose' | 'controlAccess' | 'reconfigureVm' | 'power:powerOn' | 'power:powerOff' | 'power:shutdown' | 'power:reboot' | 'power:reset' | 'power:suspend' | 'screen:acquireTicket' | 'screen:acquireMksTicket' | 'screen:thumbnail' | 'snapshot:create' | 'snapshot:revertToCurrent' | 'snapshot:removeAll' | 'edgeGateways' | 'edgeGateway:configureServices' | 'task:cancel' | 'upload:default'
  }
  readonly LinkInput: {
    readonly href?: string
    readonly id?: string
    readonly name?: string
    readonly type?: string
    readonly rel?: 'up' | 'down' | 'alternate' | 'entityResolver' | 'firstPage' | 'previousPage' | 'nextPage' | 'lastPage' | 'add' | 'edit' | 'remove' | 'enable' | 'disable' | 'test' | 'resend' | 'replaceSecret' | 'confirm' | 'replaceRecoveryCodes' | 'removeSecondFactors' | 'deploy' | 'undeploy' | 'discardState' | 'recompose' | 'controlAccess' | 'reconfigureVm' | 'power:powerOn' | 'power:powerOff' | 'power:shutdown' | 'power:reboot' | 'power:reset' | 'power:suspend' | 'screen:acquireTicket' | 'screen:acquireMksTicket' | 'screen:thumbnail' | 'snapshot:create' | 'snapshot:revertToCurrent' | 'snapshot:removeAll' | 'edgeGateways' | 'edgeGateway:configureServices' | 'task:cancel' | 'upload:default'
  }
  readonly Metadata: {
    readonly href?: string
    readonly type?: string
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly metadataEntry: readonly (CloudDocuments['MetadataEntry'])[]
  }
  readonly MetadataBooleanValue: {
    readonly kind: 'MetadataBooleanValue'
    readonly value: boolean
  }
  readonly MetadataBooleanValueInput: {
    readonly kind: 'MetadataBooleanValue'
    readonly value?: boolean
  }
  readonly MetadataDateTimeValue: {
    readonly kind: 'MetadataDateTimeValue'
    readonly value: string
  }
  readonly MetadataDateTimeValueInput: {
    readonly kind: 'MetadataDateTimeValue'
    readonly value?: string
  }
  readonly MetadataDomain: {
    readonly visibility?: string
    readonly value: string
  }
  readonly MetadataDomainInput: {
    readonly visibility?: string
    readonly value?: string
  }
  readonly MetadataEntry: {
    readonly href?: string
    readonly type?: string
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly domain?: CloudDocuments['MetadataDomain']
    readonly key: string
    readonly value?: string
    readonly typedValue?: CloudDocuments['MetadataValueType']
  }
  readonly MetadataEntryInput: {
    readonly href?: string
    readonly type?: string
    readonly link?: readonly (CloudDocuments['LinkInput'])[]
    readonly domain?: CloudDocuments['MetadataDomainInput']
    readonly key?: string
    readonly value?: string
    readonly typedValue?: CloudDocuments['MetadataValueTypeInput']
  }
  readonly MetadataInput: {
    readonly href?: string
    readonly type?: string
    readonly link?: readonly (CloudDocuments['LinkInput'])[]
    readonly metadataEntry?: readonly (CloudDocuments['MetadataEntryInput'])[]
  }
  readonly MetadataNumberValue: {
    readonly kind: 'MetadataNumberValue'
    readonly value: number
  }
  readonly MetadataNumberValueInput: {
    readonly kind: 'MetadataNumberValue'
    readonly value?: number
  }
  readonly MetadataStringValue: {
    readonly kind: 'MetadataStringValue'
    readonly value: string
  }
  readonly MetadataStringValueInput: {
    readonly kind: 'MetadataStringValue'
    readonly value?: string
  }
  /** The value of one key. */
  readonly MetadataValue: {
    readonly href?: string
    readonly type?: string
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly domain?: CloudDocuments['MetadataDomain']
    readonly value?: string
    readonly typedValue?: CloudDocuments['MetadataValueType']
  }
  /** The value of one key. */
  readonly MetadataValueInput: {
    readonly href?: string
    readonly type?: string
    readonly link?: readonly (CloudDocuments['LinkInput'])[]
    readonly domain?: CloudDocuments['MetadataDomainInput']
    readonly value?: string
    readonly typedValue?: CloudDocuments['MetadataValueTypeInput']
  }
  readonly MetadataValueType: CloudDocuments['MetadataStringValue'] | CloudDocuments['MetadataNumberValue'] | CloudDocuments['MetadataBooleanValue'] | CloudDocuments['MetadataDateTimeValue']
  readonly MetadataValueTypeInput: CloudDocuments['MetadataStringValueInput'] | CloudDocuments['MetadataNumberValueInput'] | CloudDocuments['MetadataBooleanValueInput'] | CloudDocuments['MetadataDateTimeValueInput']
  /** What a VM used in the last hour, the oldest value first. A value that is nil is not known; a VM that is not running has none. */
  readonly Metrics: {
    /** Seconds between two values. */
    readonly step: number
    /** The time of the last value. */
    readonly until: string
    /** Percent of all its CPUs. */
    readonly cpuPercent: readonly (number | null)[]
    /** MiB of memory in use: as the guest reports it, or else as its host sees it. */
    readonly memoryMB: readonly (number | null)[]
    /** Bytes a second read from its disk. */
    readonly diskRead: readonly (number | null)[]
    /** Bytes a second written to its disk. */
    readonly diskWrite: readonly (number | null)[]
    /** Bytes a second received. */
    readonly netIn: readonly (number | null)[]
    /** Bytes a second sent. */
    readonly netOut: readonly (number | null)[]
  }
  /** A ticket to a console in its parts, since 5.5: good once, for 30 seconds. */
  readonly MksTicket: {
    /** Until when it is good. */
    readonly expires: string
    /** Where a WebSocket finds the screen, with the ticket in it. */
    readonly wss: string
    readonly host: string
    readonly vmx: string
    readonly ticket: string
    readonly port: number
  }
  readonly NatRule: {
    readonly description?: string
    readonly ruleType: 'DNAT' | 'SNAT'
    readonly isEnabled?: boolean
    readonly id?: string
    readonly gatewayNatRule: CloudDocuments['GatewayNatRule']
  }
  readonly NatRuleInput: {
    readonly description?: string
    readonly ruleType?: 'DNAT' | 'SNAT'
    readonly isEnabled?: boolean
    readonly id?: string
    readonly gatewayNatRule?: CloudDocuments['GatewayNatRuleInput']
  }
  readonly NatService: {
    readonly isEnabled?: boolean
    readonly natRule: readonly (CloudDocuments['NatRule'])[]
  }
  readonly NatServiceInput: {
    readonly isEnabled?: boolean
    readonly natRule?: readonly (CloudDocuments['NatRuleInput'])[]
  }
  readonly NetworkConfiguration: {
    readonly ipScopes?: CloudDocuments['NetworkConfigurationIpScopes']
    /** The external network of a bridged one. */
    readonly parentNetwork?: CloudDocuments['Reference']
    /** isolated: only the VMs on it reach each other. natRouted: it reaches the outside by an edge gateway. bridged: it is the external network that ParentNetwork names. */
    readonly fenceMode: 'isolated' | 'natRouted' | 'bridged'
    readonly retainNetInfoAcrossDeployments?: boolean
  }
  readonly NetworkConfigurationInput: {
    readonly ipScopes?: CloudDocuments['NetworkConfigurationIpScopesInput']
    /** The external network of a bridged one. */
    readonly parentNetwork?: CloudDocuments['ReferenceInput']
    /** isolated: only the VMs on it reach each other. natRouted: it reaches the outside by an edge gateway. bridged: it is the external network that ParentNetwork names. */
    readonly fenceMode?: 'isolated' | 'natRouted' | 'bridged'
    readonly retainNetInfoAcrossDeployments?: boolean
  }
  readonly NetworkConfigurationIpScopes: {
    readonly ipScope: CloudDocuments['IpScope']
  }
  readonly NetworkConfigurationIpScopesInput: {
    readonly ipScope?: CloudDocuments['IpScopeInput']
  }
  /** A network card of a VM to create. */
  readonly NetworkConnectionParams: {
    readonly network: string
    /** From 0 to 9. Default: its place in the list. */
    readonly networkConnectionIndex?: number
    /** For MANUAL. */
    readonly ipAddress?: string
    readonly isConnected?: boolean
    /** POOL, DHCP: the cloud chooses the address. MANUAL: IpAddress. NONE: none. Default: POOL. */
    readonly ipAddressAllocationMode?: string
  }
  readonly NetworkConnectionSection: {
    readonly required?: boolean
    readonly href?: string
    readonly type?: string
    readonly info: string
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly primaryNetworkConnectionIndex?: number
    readonly networkConnection: readonly (CloudDocuments['NetworkConnectionSectionNetworkConnection'])[]
  }
  readonly NetworkConnectionSectionInput: {
    readonly required?: boolean
    readonly href?: string
    readonly type?: string
    readonly info?: string
    readonly link?: readonly (CloudDocuments['LinkInput'])[]
    readonly primaryNetworkConnectionIndex?: number
    readonly networkConnection?: readonly (CloudDocuments['NetworkConnectionSectionNetworkConnectionInput'])[]
  }
  readonly NetworkConnectionSectionNetworkConnection: {
    readonly network: string
    readonly networkConnectionIndex: number
    readonly ipAddress?: string
    /** On a network with IPv6: the address that the guest makes of the prefix and its MAC address. Not for requests. */
    readonly ipv6Address?: string
    /** The address by which a rule of the edge gateway makes the card reachable from outside. */
    readonly externalIpAddress?: string
    readonly isConnected: boolean
    readonly macAddress?: string
    readonly ipAddressAllocationMode: string
  }
  readonly NetworkConnectionSectionNetworkConnectionInput: {
    readonly network?: string
    readonly networkConnectionIndex?: number
    readonly ipAddress?: string
    /** On a network with IPv6: the address that the guest makes of the prefix and its MAC address. Not for requests. */
    readonly ipv6Address?: string
    /** The address by which a rule of the edge gateway makes the card reachable from outside. */
    readonly externalIpAddress?: string
    readonly isConnected?: boolean
    readonly macAddress?: string
    readonly ipAddressAllocationMode?: string
  }
  /** An external network. */
  readonly NetworkRecord: {
    readonly href?: string
    readonly id?: string
    readonly name?: string
    readonly description?: string
    readonly kind?: string
    readonly uplink?: string
    readonly vlan?: number
    readonly gateway?: string
    readonly netmask?: string
    readonly dns1?: string
    readonly dns2?: string
    readonly isDefault?: boolean
    readonly numberOfEdgeGateways?: number
    readonly usedIpCount?: number
    readonly totalIpCount?: number
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly metadata?: CloudDocuments['Metadata']
  }
  /** A second factor with its secret. It is shown only once, and counts after a code of it was sent. */
  readonly NewSecondFactor: {
    readonly href?: string
    readonly type?: string
    readonly id?: string
    /** Since 5.1. The same key in a request is the same request, as with the header Idempotency-Key. */
    readonly operationKey?: string
    readonly name: string
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly description?: string
    readonly tasks?: CloudDocuments['Tasks']
    /** The otpauth: address that an app reads, as a QR code. */
    readonly address: string
    /** The secret in it, to be typed: 32 characters of base32. */
    readonly secret: string
  }
  readonly OperatingSystemSection: {
    readonly required?: boolean
    readonly id: number
    readonly info: string
    readonly description: string
  }
  readonly OperatingSystemSectionInput: {
    readonly required?: boolean
    readonly id?: number
    readonly info?: string
    readonly description?: string
  }
  /** A reference by href or id. */
  readonly OptionalReference: {
    readonly href?: string
    readonly id?: string
    readonly name?: string
    readonly type?: string
  }
  /** A reference by href or id. */
  readonly OptionalReferenceInput: {
    readonly href?: string
    readonly id?: string
    readonly name?: string
    readonly type?: string
  }
  readonly Org: {
    readonly href?: string
    readonly type?: string
    readonly id?: string
    /** Since 5.1. The same key in a request is the same request, as with the header Idempotency-Key. */
    readonly operationKey?: string
    readonly name: string
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly description?: string
    readonly tasks?: CloudDocuments['Tasks']
    readonly fullName: string
  }
  readonly OrgList: {
    readonly href?: string
    readonly type?: string
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly org: readonly (CloudDocuments['Reference'])[]
  }
  readonly OrgNetworkRecord: {
    readonly href?: string
    readonly id?: string
    readonly name?: string
    readonly description?: string
    readonly vdc?: string
    readonly vdcName?: string
    readonly defaultGateway?: string
    readonly netmask?: string
    readonly ipv6Prefix?: string
    readonly dns1?: string
    readonly dns2?: string
    readonly dnsSuffix?: string
    readonly linkType?: number
    readonly connectedTo?: string
    readonly isBusy?: boolean
    readonly isShared?: boolean
    readonly isIpScopeInherited?: boolean
    readonly usedIpCount?: number
    readonly totalIpCount?: number
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly metadata?: CloudDocuments['Metadata']
  }
  readonly OrgNetworkReferences: {
    readonly href?: string
    readonly type?: string
    readonly name: string
    readonly page: number
    readonly pageSize: number
    readonly total: number
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly orgNetworkReference: readonly (CloudDocuments['Reference'])[]
  }
  readonly OrgRecord: {
    readonly href?: string
    readonly id?: string
    readonly name?: string
    readonly displayName?: string
    readonly isEnabled?: boolean
    readonly isReadOnly?: boolean
    readonly canPublishCatalogs?: boolean
    readonly numberOfVdcs?: number
    readonly numberOfVApps?: number
    readonly numberOfRunningVMs?: number
    readonly numberOfVMs?: number
    readonly numberOfCatalogs?: number
    readonly numberOfGroups?: number
    readonly numberOfUsers?: number
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly metadata?: CloudDocuments['Metadata']
  }
  /** A set of rights, which users and groups have by its name. */
  readonly OrgRole: {
    readonly href?: string
    readonly type?: string
    readonly id?: string
    /** Since 5.1. The same key in a request is the same request, as with the header Idempotency-Key. */
    readonly operationKey?: string
    readonly name: string
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly description?: string
    readonly tasks?: CloudDocuments['Tasks']
    readonly right: readonly (string)[]
    /** The number of users who have it. Not for requests. */
    readonly users?: number
    /** The number of groups of identity servers that have it. Not for requests. */
    readonly groups?: number
  }
  /** A set of rights, which users and groups have by its name. */
  readonly OrgRoleInput: {
    readonly href?: string
    readonly type?: string
    readonly id?: string
    /** Since 5.1. The same key in a request is the same request, as with the header Idempotency-Key. */
    readonly operationKey?: string
    readonly name?: string
    readonly link?: readonly (CloudDocuments['LinkInput'])[]
    readonly description?: string
    readonly tasks?: CloudDocuments['TasksInput']
    readonly right?: readonly (string)[]
    /** The number of users who have it. Not for requests. */
    readonly users?: number
    /** The number of groups of identity servers that have it. Not for requests. */
    readonly groups?: number
  }
  /** The roles of an organisation, beside those that every organisation has. */
  readonly OrgRoles: {
    readonly href?: string
    readonly type?: string
    readonly link: readonly (CloudDocuments['Link'])[]
    /** A set of rights, which users and groups have by its name. */
    readonly orgRole: readonly (CloudDocuments['OrgRole'])[]
  }
  /** What an organisation used, the oldest period first. Values are units times milliseconds, so that no sum is rounded. */
  readonly OrgUsage: {
    readonly href?: string
    readonly type?: string
    readonly name: string
    readonly by: 'hour' | 'day' | 'month'
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly period: readonly (CloudDocuments['UsagePeriod'])[]
  }
  readonly OrgVdcNetwork: {
    readonly href?: string
    readonly type?: string
    readonly id?: string
    /** Since 5.1. The same key in a request is the same request, as with the header Idempotency-Key. */
    readonly operationKey?: string
    readonly name: string
    /** 1: ready. 0: a change is on its way to the hosts. */
    readonly status?: number
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly description?: string
    readonly tasks?: CloudDocuments['Tasks']
    readonly configuration?: CloudDocuments['NetworkConfiguration']
    /** By href or id. Default for natRouted: the default edge gateway of the vdc. */
    readonly edgeGateway?: CloudDocuments['OrgVdcNetworkEdgeGateway']
    /** Whether VMs of the other vdcs of the organisation may be on it. */
    readonly isShared?: boolean
    /** Whether its VMs have IPv6 addresses too, which reach the networks of its edge gateway and nothing outside. For natRouted only. Default: false. It changes while no VM is on the network. */
    readonly isIpv6Enabled?: boolean
    /** The prefix of these addresses, which the cloud chooses. Not for requests. */
    readonly ipv6Prefix?: string
  }
  /** By href or id. Default for natRouted: the default edge gateway of the vdc. */
  readonly OrgVdcNetworkEdgeGateway: {
    readonly href?: string
    readonly id?: string
    readonly name?: string
    readonly type?: string
  }
  /** By href or id. Default for natRouted: the default edge gateway of the vdc. */
  readonly OrgVdcNetworkEdgeGatewayInput: {
    readonly href?: string
    readonly id?: string
    readonly name?: string
    readonly type?: string
  }
  readonly OrgVdcNetworkInput: {
    readonly href?: string
    readonly type?: string
    readonly id?: string
    /** Since 5.1. The same key in a request is the same request, as with the header Idempotency-Key. */
    readonly operationKey?: string
    readonly name?: string
    /** 1: ready. 0: a change is on its way to the hosts. */
    readonly status?: number
    readonly link?: readonly (CloudDocuments['LinkInput'])[]
    readonly description?: string
    readonly tasks?: CloudDocuments['TasksInput']
    readonly configuration?: CloudDocuments['NetworkConfigurationInput']
    /** By href or id. Default for natRouted: the default edge gateway of the vdc. */
    readonly edgeGateway?: CloudDocuments['OrgVdcNetworkEdgeGatewayInput']
    /** Whether VMs of the other vdcs of the organisation may be on it. */
    readonly isShared?: boolean
    /** Whether its VMs have IPv6 addresses too, which reach the networks of its edge gateway and nothing outside. For natRouted only. Default: false. It changes while no VM is on the network. */
    readonly isIpv6Enabled?: boolean
    /** The prefix of these addresses, which the cloud chooses. Not for requests. */
    readonly ipv6Prefix?: string
  }
  readonly OrgVdcNetworkRecord: {
    readonly href?: string
    readonly id?: string
    readonly name?: string
    readonly description?: string
    readonly vdc?: string
    readonly vdcName?: string
    readonly defaultGateway?: string
    readonly netmask?: string
    readonly ipv6Prefix?: string
    readonly dns1?: string
    readonly dns2?: string
    readonly dnsSuffix?: string
    readonly linkType?: number
    readonly connectedTo?: string
    readonly isBusy?: boolean
    readonly isShared?: boolean
    readonly isIpScopeInherited?: boolean
    readonly usedIpCount?: number
    readonly totalIpCount?: number
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly metadata?: CloudDocuments['Metadata']
  }
  readonly OrgVdcNetworkReferences: {
    readonly href?: string
    readonly type?: string
    readonly name: string
    readonly page: number
    readonly pageSize: number
    readonly total: number
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly orgVdcNetworkReference: readonly (CloudDocuments['Reference'])[]
  }
  readonly OrgVdcRecord: {
    readonly href?: string
    readonly id?: string
    readonly name?: string
    readonly description?: string
    readonly org?: string
    readonly orgName?: string
    readonly isEnabled?: boolean
    readonly isBusy?: boolean
    readonly isSystemVdc?: boolean
    readonly status?: string
    readonly numberOfVApps?: number
    readonly numberOfVMs?: number
    readonly numberOfRunningVMs?: number
    readonly numberOfVAppTemplates?: number
    readonly cpuUsed?: number
    readonly cpuLimit?: number
    readonly memoryUsedMB?: number
    readonly memoryLimitMB?: number
    readonly storageUsedMB?: number
    readonly storageLimitMB?: number
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly metadata?: CloudDocuments['Metadata']
  }
  readonly OrgVdcReferences: {
    readonly href?: string
    readonly type?: string
    readonly name: string
    readonly page: number
    readonly pageSize: number
    readonly total: number
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly orgVdcReference: readonly (CloudDocuments['Reference'])[]
  }
  readonly OrganizationReferences: {
    readonly href?: string
    readonly type?: string
    readonly name: string
    readonly page: number
    readonly pageSize: number
    readonly total: number
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly organizationReference: readonly (CloudDocuments['Reference'])[]
  }
  /** A vApp or a VM, as it was called when it was asked, or the organisation and the number of VMs of an action on a query; with an address for as long as it is there. */
  readonly Owner: {
    readonly name: string
    readonly id: string
    readonly href?: string
    readonly type: string
  }
  /** A vApp or a VM, as it was called when it was asked, or the organisation and the number of VMs of an action on a query; with an address for as long as it is there. */
  readonly OwnerInput: {
    readonly name?: string
    readonly id?: string
    readonly href?: string
    readonly type?: string
  }
  /** A user by name; with an address for those who may read it. */
  readonly Person: {
    readonly name: string
    readonly href?: string
    readonly type?: string
  }
  /** A user by name; with an address for those who may read it. */
  readonly PersonInput: {
    readonly name?: string
    readonly href?: string
    readonly type?: string
  }
  readonly QueryResultRecords: {
    readonly href?: string
    readonly type?: string
    readonly name: string
    readonly page: number
    readonly pageSize: number
    readonly total: number
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly vmRecord: readonly (CloudDocuments['VMRecord'])[]
    readonly adminVMRecord: readonly (CloudDocuments['AdminVMRecord'])[]
    readonly vAppRecord: readonly (CloudDocuments['VAppRecord'])[]
    readonly adminVAppRecord: readonly (CloudDocuments['AdminVAppRecord'])[]
    readonly taskRecord: readonly (CloudDocuments['TaskRecord'])[]
    readonly adminTaskRecord: readonly (CloudDocuments['AdminTaskRecord'])[]
    readonly orgRecord: readonly (CloudDocuments['OrgRecord'])[]
    readonly orgVdcRecord: readonly (CloudDocuments['OrgVdcRecord'])[]
    readonly orgVdcNetworkRecord: readonly (CloudDocuments['OrgVdcNetworkRecord'])[]
    readonly orgNetworkRecord: readonly (CloudDocuments['OrgNetworkRecord'])[]
    readonly securityGroupRecord: readonly (CloudDocuments['SecurityGroupRecord'])[]
    readonly catalogRecord: readonly (CloudDocuments['CatalogRecord'])[]
    readonly vAppTemplateRecord: readonly (CloudDocuments['VAppTemplateRecord'])[]
    readonly eventRecord: readonly (CloudDocuments['EventRecord'])[]
    readonly hostRecord: readonly (CloudDocuments['HostRecord'])[]
    readonly edgeGatewayRecord: readonly (CloudDocuments['EdgeGatewayRecord'])[]
    readonly networkRecord: readonly (CloudDocuments['NetworkRecord'])[]
  }
  /** The most that an organisation may have at once. What is not named has no bound. */
  readonly Quota: {
    readonly vms?: number
    readonly runningVms?: number
    readonly cpus?: number
    readonly memoryMB?: number
    readonly storageMB?: number
    readonly networks?: number
    readonly edgeGateways?: number
    readonly externalAddresses?: number
  }
  /** The most that an organisation may have at once. What is not named has no bound. */
  readonly QuotaInput: {
    readonly vms?: number
    readonly runningVms?: number
    readonly cpus?: number
    readonly memoryMB?: number
    readonly storageMB?: number
    readonly networks?: number
    readonly edgeGateways?: number
    readonly externalAddresses?: number
  }
  readonly RecomposeVAppParams: {
    readonly name?: string
    readonly description?: string
    readonly instantiationParams?: CloudDocuments['InstantiationParams']
    readonly sourcedItem?: readonly (CloudDocuments['SourcedItem'])[]
    readonly deleteItem?: readonly (CloudDocuments['ReferenceInput'])[]
  }
  /** Codes that take the place of the app or passkey, each once. They are shown only once; earlier ones count no more. None: those that the user has still count. */
  readonly RecoveryCodes: {
    readonly type?: string
    readonly code: readonly (string)[]
  }
  /** Points at a thing that has a document of its own. */
  readonly Reference: {
    readonly href: string
    readonly id?: string
    readonly name?: string
    readonly type?: string
  }
  /** Points at a thing that has a document of its own. */
  readonly ReferenceInput: {
    readonly href?: string
    readonly id?: string
    readonly name?: string
    readonly type?: string
  }
  /** The events that a webhook sends again. */
  readonly ResendParams: {
    /** The id of the first event, or 0-0 for all that are kept. */
    readonly from: string
  }
  /** Has an address, and leads on from there. */
  readonly Resource: {
    readonly href?: string
    readonly type?: string
    readonly link: readonly (CloudDocuments['Link'])[]
  }
  readonly Role: {
    readonly name: string
    readonly right: readonly (string)[]
  }
  /** One address of a console with a ticket in it: good once, for 30 seconds. */
  readonly ScreenTicket: {
    /** Until when it is good. */
    readonly expires: string
    /** Where a WebSocket finds the screen, with the same ticket in it. */
    readonly wss: string
    readonly value: string
  }
  /** An app that makes codes for a user, or a passkey. With one that is confirmed, a password alone does not log in. */
  readonly SecondFactor: {
    readonly href?: string
    readonly type?: string
    readonly id?: string
    /** Since 5.1. The same key in a request is the same request, as with the header Idempotency-Key. */
    readonly operationKey?: string
    readonly name: string
    readonly kind: 'TOTP' | 'PASSKEY'
    /** Whether a code of it was sent; a passkey is confirmed from the beginning. One that is not confirmed ends after 15 minutes. */
    readonly confirmed: boolean
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly description?: string
    readonly tasks?: CloudDocuments['Tasks']
    readonly created: string
    readonly lastUsed?: string
  }
  /** The six digits that the app shows. */
  readonly SecondFactorCode: {
    readonly code: string
  }
  /** Asks for a second factor under this name. */
  readonly SecondFactorParams: {
    readonly name: string
  }
  /** The second factors of a user. */
  readonly SecondFactors: {
    readonly href?: string
    readonly type?: string
    readonly recoveryCodesLeft: number
    /** Whether the organisation requires one. Without one, its users may only add one. */
    readonly required: boolean
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly secondFactor: readonly (CloudDocuments['SecondFactor'])[]
  }
  /** Which packets VMs with some labels accept and send. */
  readonly SecurityGroup: {
    readonly href?: string
    readonly type?: string
    readonly id?: string
    /** Since 5.1. The same key in a request is the same request, as with the header Idempotency-Key. */
    readonly operationKey?: string
    readonly name: string
    /** 1: ready. 0: a change of the networks of the organisation is on its way to the hosts. */
    readonly status?: number
    /** Each change raises it. A request with an older one is refused. */
    readonly version?: number
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly description?: string
    readonly tasks?: CloudDocuments['Tasks']
    /** Its VMs have all of these labels, which are entries of their metadata. Without labels it has no VMs. */
    readonly selector?: CloudDocuments['SecurityGroupSelector']
    /** Its VMs accept only what a rule here, or of another group of the VM, allows. Without this element it limits nothing. */
    readonly inbound?: CloudDocuments['SecurityRules']
    /** The same for what its VMs send. */
    readonly outbound?: CloudDocuments['SecurityRules']
    /** Its VMs now, at most the first 128. Not for requests. */
    readonly members?: CloudDocuments['SecurityGroupMembers']
  }
  /** Which packets VMs with some labels accept and send. */
  readonly SecurityGroupInput: {
    readonly href?: string
    readonly type?: string
    readonly id?: string
    /** Since 5.1. The same key in a request is the same request, as with the header Idempotency-Key. */
    readonly operationKey?: string
    readonly name?: string
    /** 1: ready. 0: a change of the networks of the organisation is on its way to the hosts. */
    readonly status?: number
    /** Each change raises it. A request with an older one is refused. */
    readonly version?: number
    readonly link?: readonly (CloudDocuments['LinkInput'])[]
    readonly description?: string
    readonly tasks?: CloudDocuments['TasksInput']
    /** Its VMs have all of these labels, which are entries of their metadata. Without labels it has no VMs. */
    readonly selector?: CloudDocuments['SecurityGroupSelectorInput']
    /** Its VMs accept only what a rule here, or of another group of the VM, allows. Without this element it limits nothing. */
    readonly inbound?: CloudDocuments['SecurityRulesInput']
    /** The same for what its VMs send. */
    readonly outbound?: CloudDocuments['SecurityRulesInput']
    /** Its VMs now, at most the first 128. Not for requests. */
    readonly members?: CloudDocuments['SecurityGroupMembersInput']
  }
  /** Its VMs now, at most the first 128. Not for requests. */
  readonly SecurityGroupMembers: {
    readonly total?: number
    readonly vmReference: readonly (CloudDocuments['Reference'])[]
  }
  /** Its VMs now, at most the first 128. Not for requests. */
  readonly SecurityGroupMembersInput: {
    readonly total?: number
    readonly vmReference?: readonly (CloudDocuments['ReferenceInput'])[]
  }
  readonly SecurityGroupRecord: {
    readonly href?: string
    readonly id?: string
    readonly name?: string
    readonly description?: string
    readonly selector?: string
    readonly isInboundLimited?: boolean
    readonly isOutboundLimited?: boolean
    readonly numberOfRules?: number
    readonly numberOfVMs?: number
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly metadata?: CloudDocuments['Metadata']
  }
  readonly SecurityGroupReferences: {
    readonly href?: string
    readonly type?: string
    readonly name: string
    readonly page: number
    readonly pageSize: number
    readonly total: number
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly securityGroupReference: readonly (CloudDocuments['Reference'])[]
  }
  /** Its VMs have all of these labels, which are entries of their metadata. Without labels it has no VMs. */
  readonly SecurityGroupSelector: {
    readonly label: readonly (CloudDocuments['SecurityGroupSelectorLabel'])[]
  }
  /** Its VMs have all of these labels, which are entries of their metadata. Without labels it has no VMs. */
  readonly SecurityGroupSelectorInput: {
    readonly label?: readonly (CloudDocuments['SecurityGroupSelectorLabelInput'])[]
  }
  readonly SecurityGroupSelectorLabel: {
    readonly key: string
    readonly value: string
  }
  readonly SecurityGroupSelectorLabelInput: {
    readonly key?: string
    readonly value?: string
  }
  /** The security groups of an organisation. */
  readonly SecurityGroups: {
    readonly href?: string
    readonly type?: string
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly securityGroupReference: readonly (CloudDocuments['Reference'])[]
  }
  /** Packets that are allowed: with Cidr or PeerGroup those from or to it, without either those from or to anybody. */
  readonly SecurityRule: {
    readonly protocol: 'tcp' | 'udp' | 'icmp' | 'any'
    /** Ports of the destination: 443, or 8000-8100. Default: all. */
    readonly portRange?: string
    /** A block of IPv4 addresses: 10.0.0.0/8, or one address. */
    readonly cidr?: string
    /** The VMs of a security group of the same organisation, by href, id or name. */
    readonly peerGroup?: CloudDocuments['SecurityRulePeerGroup']
  }
  /** Packets that are allowed: with Cidr or PeerGroup those from or to it, without either those from or to anybody. */
  readonly SecurityRuleInput: {
    readonly protocol?: 'tcp' | 'udp' | 'icmp' | 'any'
    /** Ports of the destination: 443, or 8000-8100. Default: all. */
    readonly portRange?: string
    /** A block of IPv4 addresses: 10.0.0.0/8, or one address. */
    readonly cidr?: string
    /** The VMs of a security group of the same organisation, by href, id or name. */
    readonly peerGroup?: CloudDocuments['SecurityRulePeerGroupInput']
  }
  /** The VMs of a security group of the same organisation, by href, id or name. */
  readonly SecurityRulePeerGroup: {
    readonly href?: string
    readonly id?: string
    readonly name?: string
    readonly type?: string
  }
  /** The VMs of a security group of the same organisation, by href, id or name. */
  readonly SecurityRulePeerGroupInput: {
    readonly href?: string
    readonly id?: string
    readonly name?: string
    readonly type?: string
  }
  readonly SecurityRules: {
    readonly rule: readonly (CloudDocuments['SecurityRule'])[]
  }
  readonly SecurityRulesInput: {
    readonly rule?: readonly (CloudDocuments['SecurityRuleInput'])[]
  }
  /** Who is logged in. The token comes in a header at login, and never in a document. */
  readonly Session: {
    readonly href?: string
    readonly type?: string
    readonly user: string
    readonly org: string
    /** Since 5.1. */
    readonly role?: string
    readonly link: readonly (CloudDocuments['Link'])[]
    /** Since 5.1. What the role allows. */
    readonly right: readonly (string)[]
  }
  /** Since 5.1. A VM has one snapshot at most. */
  readonly SnapshotSection: {
    readonly required?: boolean
    readonly href?: string
    readonly type?: string
    readonly info: string
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly snapshot?: CloudDocuments['SnapshotSectionSnapshot']
  }
  /** Since 5.1. A VM has one snapshot at most. */
  readonly SnapshotSectionInput: {
    readonly required?: boolean
    readonly href?: string
    readonly type?: string
    readonly info?: string
    readonly link?: readonly (CloudDocuments['LinkInput'])[]
    readonly snapshot?: CloudDocuments['SnapshotSectionSnapshotInput']
  }
  readonly SnapshotSectionSnapshot: {
    readonly name?: string
    readonly created: string
    readonly poweredOn: boolean
    readonly size: number
  }
  readonly SnapshotSectionSnapshotInput: {
    readonly name?: string
    readonly created?: string
    readonly poweredOn?: boolean
    readonly size?: number
  }
  readonly SourcedItem: {
    readonly sourceDelete?: boolean
    readonly source: CloudDocuments['ReferenceInput']
    readonly instantiationParams?: CloudDocuments['InstantiationParams']
    readonly guestCustomizationSection?: CloudDocuments['GuestParams']
  }
  readonly StaticRoute: {
    readonly name?: string
    readonly network: string
    readonly nextHopIp: string
  }
  readonly StaticRouteInput: {
    readonly name?: string
    readonly network?: string
    readonly nextHopIp?: string
  }
  readonly StaticRoutingService: {
    readonly isEnabled?: boolean
    readonly staticRoute: readonly (CloudDocuments['StaticRoute'])[]
  }
  readonly StaticRoutingServiceInput: {
    readonly isEnabled?: boolean
    readonly staticRoute?: readonly (CloudDocuments['StaticRouteInput'])[]
  }
  readonly SubnetParticipation: {
    readonly gateway?: string
    readonly netmask?: string
    /** The address of the edge gateway itself. */
    readonly ipAddress?: string
    /** The external addresses that the organisation took. */
    readonly ipRanges?: CloudDocuments['SubnetParticipationIpRanges']
  }
  readonly SubnetParticipationInput: {
    readonly gateway?: string
    readonly netmask?: string
    /** The address of the edge gateway itself. */
    readonly ipAddress?: string
    /** The external addresses that the organisation took. */
    readonly ipRanges?: CloudDocuments['SubnetParticipationIpRangesInput']
  }
  /** The external addresses that the organisation took. */
  readonly SubnetParticipationIpRanges: {
    readonly ipRange: readonly (CloudDocuments['IpRange'])[]
  }
  /** The external addresses that the organisation took. */
  readonly SubnetParticipationIpRangesInput: {
    readonly ipRange?: readonly (CloudDocuments['IpRangeInput'])[]
  }
  readonly SupportedVersions: {
    readonly versionInfo: readonly (CloudDocuments['VersionInfo'])[]
  }
  /** What was asked, how far it is, how it ended. Once it has ended it stays as it is. */
  readonly Task: {
    readonly href?: string
    readonly type?: string
    readonly id?: string
    /** Since 5.1. The same key in a request is the same request, as with the header Idempotency-Key. */
    readonly operationKey?: string
    readonly name: string
    readonly status: 'queued' | 'running' | 'success' | 'error' | 'canceled'
    readonly operationName: string
    readonly operation: string
    readonly startTime: string
    readonly endTime?: string
    readonly expiryTime: string
    readonly cancelRequested?: boolean
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly description?: string
    readonly tasks?: CloudDocuments['Tasks']
    /** What it is done to. */
    readonly owner: CloudDocuments['Owner']
    readonly error?: CloudDocuments['Error']
    readonly user: CloudDocuments['Person']
    readonly organization: CloudDocuments['Reference']
    readonly progress: number
    /** Since 5.1. What else is worth knowing of it. */
    readonly details?: string
    /** What it waits for; left out while nothing keeps it from going on. */
    readonly waiting?: CloudDocuments['Waiting']
  }
  /** What was asked, how far it is, how it ended. Once it has ended it stays as it is. */
  readonly TaskInput: {
    readonly href?: string
    readonly type?: string
    readonly id?: string
    /** Since 5.1. The same key in a request is the same request, as with the header Idempotency-Key. */
    readonly operationKey?: string
    readonly name?: string
    readonly status?: 'queued' | 'running' | 'success' | 'error' | 'canceled'
    readonly operationName?: string
    readonly operation?: string
    readonly startTime?: string
    readonly endTime?: string
    readonly expiryTime?: string
    readonly cancelRequested?: boolean
    readonly link?: readonly (CloudDocuments['LinkInput'])[]
    readonly description?: string
    readonly tasks?: CloudDocuments['TasksInput']
    /** What it is done to. */
    readonly owner?: CloudDocuments['OwnerInput']
    readonly error?: CloudDocuments['ErrorInput']
    readonly user?: CloudDocuments['PersonInput']
    readonly organization?: CloudDocuments['ReferenceInput']
    readonly progress?: number
    /** Since 5.1. What else is worth knowing of it. */
    readonly details?: string
    /** What it waits for; left out while nothing keeps it from going on. */
    readonly waiting?: CloudDocuments['WaitingInput']
  }
  readonly TaskRecord: {
    readonly href?: string
    readonly id?: string
    readonly name?: string
    readonly org?: string
    readonly orgName?: string
    readonly startDate?: string
    readonly endDate?: string
    readonly status?: 'queued' | 'running' | 'success' | 'error' | 'canceled'
    readonly ownerName?: string
    readonly object?: string
    readonly objectType?: string
    readonly objectName?: string
    readonly operation?: string
    readonly progress?: number
    readonly parent?: string
    readonly isInBulk?: boolean
    readonly message?: string
    readonly waitReason?: 'turn' | 'order' | 'source' | 'source-host' | 'host-out' | 'host-quarantine' | 'host-silent' | 'pending-undo' | 'claim' | 'host-limit' | 'org-limit' | 'worker' | 'room' | 'retry'
    readonly waitMessage?: string
    readonly waitingSince?: string
    readonly attempts?: number
    readonly lastFailure?: string
    readonly givesUpAt?: string
    readonly serviceNamespace?: string
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly metadata?: CloudDocuments['Metadata']
  }
  readonly TaskReferences: {
    readonly href?: string
    readonly type?: string
    readonly name: string
    readonly page: number
    readonly pageSize: number
    readonly total: number
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly taskReference: readonly (CloudDocuments['Reference'])[]
  }
  /** What is asked of it and has not ended. */
  readonly Tasks: {
    readonly task: readonly (CloudDocuments['Task'])[]
  }
  /** What is asked of it and has not ended. */
  readonly TasksInput: {
    readonly task?: readonly (CloudDocuments['TaskInput'])[]
  }
  readonly TasksList: {
    readonly href?: string
    readonly type?: string
    readonly id?: string
    /** Since 5.1. The same key in a request is the same request, as with the header Idempotency-Key. */
    readonly operationKey?: string
    readonly name: string
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly description?: string
    readonly tasks?: CloudDocuments['Tasks']
    readonly task: readonly (CloudDocuments['Task'])[]
  }
  /** Since 5.1, with ?unavailable=true. Something to do that has no link now, and why. */
  readonly Unavailable: {
    readonly rel: 'up' | 'down' | 'alternate' | 'entityResolver' | 'firstPage' | 'previousPage' | 'nextPage' | 'lastPage' | 'add' | 'edit' | 'remove' | 'enable' | 'disable' | 'test' | 'resend' | 'replaceSecret' | 'confirm' | 'replaceRecoveryCodes' | 'removeSecondFactors' | 'deploy' | 'undeploy' | 'discardState' | 'recompose' | 'controlAccess' | 'reconfigureVm' | 'power:powerOn' | 'power:powerOff' | 'power:shutdown' | 'power:reboot' | 'power:reset' | 'power:suspend' | 'screen:acquireTicket' | 'screen:acquireMksTicket' | 'screen:thumbnail' | 'snapshot:create' | 'snapshot:revertToCurrent' | 'snapshot:removeAll' | 'edgeGateways' | 'edgeGateway:configureServices' | 'task:cancel' | 'upload:default'
    readonly type?: string
    /** right: the role lacks it. state: it needs another state. nothing: it would change nothing. closed: it is being deleted. */
    readonly code: 'right' | 'state' | 'nothing' | 'closed'
    readonly because: string
  }
  /** Since 5.1, with ?unavailable=true. Something to do that has no link now, and why. */
  readonly UnavailableInput: {
    readonly rel?: 'up' | 'down' | 'alternate' | 'entityResolver' | 'firstPage' | 'previousPage' | 'nextPage' | 'lastPage' | 'add' | 'edit' | 'remove' | 'enable' | 'disable' | 'test' | 'resend' | 'replaceSecret' | 'confirm' | 'replaceRecoveryCodes' | 'removeSecondFactors' | 'deploy' | 'undeploy' | 'discardState' | 'recompose' | 'controlAccess' | 'reconfigureVm' | 'power:powerOn' | 'power:powerOff' | 'power:shutdown' | 'power:reboot' | 'power:reset' | 'power:suspend' | 'screen:acquireTicket' | 'screen:acquireMksTicket' | 'screen:thumbnail' | 'snapshot:create' | 'snapshot:revertToCurrent' | 'snapshot:removeAll' | 'edgeGateways' | 'edgeGateway:configureServices' | 'task:cancel' | 'upload:default'
    readonly type?: string
    /** right: the role lacks it. state: it needs another state. nothing: it would change nothing. closed: it is being deleted. */
    readonly code?: 'right' | 'state' | 'nothing' | 'closed'
    readonly because?: string
  }
  readonly UndeployVAppParams: {
    readonly undeployPowerAction?: 'powerOff' | 'suspend' | 'shutdown' | 'force' | 'default'
  }
  /** An image on its way: its bytes are PUT to its href, all or in parts by Content-Range. */
  readonly Upload: {
    readonly href?: string
    readonly type?: string
    readonly id?: string
    /** Since 5.1. The same key in a request is the same request, as with the header Idempotency-Key. */
    readonly operationKey?: string
    readonly name: string
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly description?: string
    readonly tasks?: CloudDocuments['Tasks']
    readonly file: CloudDocuments['UploadFile']
  }
  readonly UploadFile: {
    readonly size: number
    readonly bytesTransferred: number
    readonly sha256?: string
  }
  /** The image of a template, a qcow2 that stands on no other file. */
  readonly UploadParams: {
    readonly name: string
    readonly size: number
    readonly sha256?: string
    readonly numberOfCpus?: number
    readonly memoryMB?: number
  }
  readonly UsagePeriod: {
    readonly from: string
    /** Not part of the period. */
    readonly to: string
    /** Whether the values do not change any more; if not, they are counted up to now. */
    readonly complete: boolean
    readonly vmMilliseconds: number
    readonly runningVmMilliseconds: number
    readonly cpuMilliseconds: number
    readonly runningCpuMilliseconds: number
    readonly memoryMBMilliseconds: number
    readonly runningMemoryMBMilliseconds: number
    /** Disks, snapshots and saved memory of VMs, as quotas count them. */
    readonly storageMBMilliseconds: number
    readonly templateMBMilliseconds: number
    readonly externalAddressMilliseconds: number
  }
  readonly User: {
    readonly href?: string
    readonly type?: string
    readonly id?: string
    /** Since 5.1. The same key in a request is the same request, as with the header Idempotency-Key. */
    readonly operationKey?: string
    readonly name: string
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly description?: string
    readonly tasks?: CloudDocuments['Tasks']
    readonly isEnabled?: boolean
    readonly role?: CloudDocuments['UserRole']
    /** In requests only. */
    readonly password?: string
    /** The identity server that proves the user. Not for requests. */
    readonly identityProvider?: CloudDocuments['Reference']
    /** Whether the identity server gives the user no role any more. Not for requests. */
    readonly isLapsed?: boolean
  }
  readonly UserInput: {
    readonly href?: string
    readonly type?: string
    readonly id?: string
    /** Since 5.1. The same key in a request is the same request, as with the header Idempotency-Key. */
    readonly operationKey?: string
    readonly name?: string
    readonly link?: readonly (CloudDocuments['LinkInput'])[]
    readonly description?: string
    readonly tasks?: CloudDocuments['TasksInput']
    readonly isEnabled?: boolean
    readonly role?: CloudDocuments['UserRoleInput']
    /** In requests only. */
    readonly password?: string
    /** The identity server that proves the user. Not for requests. */
    readonly identityProvider?: CloudDocuments['ReferenceInput']
    /** Whether the identity server gives the user no role any more. Not for requests. */
    readonly isLapsed?: boolean
  }
  readonly UserRole: {
    readonly name: string
  }
  readonly UserRoleInput: {
    readonly name?: string
  }
  readonly Users: {
    readonly userReference: readonly (CloudDocuments['Reference'])[]
  }
  readonly UsersInput: {
    readonly userReference?: readonly (CloudDocuments['ReferenceInput'])[]
  }
  readonly VApp: {
    readonly href?: string
    readonly type?: 'application/vnd.skerry.cloud.vApp+json'
    readonly id?: string
    /** Since 5.1. The same key in a request is the same request, as with the header Idempotency-Key. */
    readonly operationKey?: string
    readonly name: string
    readonly status?: -1 | 0 | 1 | 3 | 4 | 6 | 8 | 9 | 10
    readonly deployed?: boolean
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly description?: string
    readonly tasks?: CloudDocuments['Tasks']
    /** Since 5.1, with ?unavailable=true. Something to do that has no link now, and why. */
    readonly unavailable: readonly (CloudDocuments['Unavailable'])[]
    /** When it is stopped, and when it may be deleted. 0: never. */
    readonly leaseSettingsSection?: CloudDocuments['LeaseSettingsSection']
    /** Since 5.1. A VM has one snapshot at most. */
    readonly snapshotSection?: CloudDocuments['SnapshotSection']
    readonly dateCreated?: string
    readonly owner?: CloudDocuments['VAppOwner']
    readonly children?: CloudDocuments['VAppChildren']
  }
  readonly VAppChildren: {
    readonly vm: readonly (CloudDocuments['Vm'])[]
  }
  readonly VAppChildrenInput: {
    readonly vm?: readonly (CloudDocuments['VmInput'])[]
  }
  readonly VAppInput: {
    readonly href?: string
    readonly type?: string
    readonly id?: string
    /** Since 5.1. The same key in a request is the same request, as with the header Idempotency-Key. */
    readonly operationKey?: string
    readonly name?: string
    readonly status?: -1 | 0 | 1 | 3 | 4 | 6 | 8 | 9 | 10
    readonly deployed?: boolean
    readonly link?: readonly (CloudDocuments['LinkInput'])[]
    readonly description?: string
    readonly tasks?: CloudDocuments['TasksInput']
    /** Since 5.1, with ?unavailable=true. Something to do that has no link now, and why. */
    readonly unavailable?: readonly (CloudDocuments['UnavailableInput'])[]
    /** When it is stopped, and when it may be deleted. 0: never. */
    readonly leaseSettingsSection?: CloudDocuments['LeaseSettingsSectionInput']
    /** Since 5.1. A VM has one snapshot at most. */
    readonly snapshotSection?: CloudDocuments['SnapshotSectionInput']
    readonly dateCreated?: string
    readonly owner?: CloudDocuments['VAppOwnerInput']
    readonly children?: CloudDocuments['VAppChildrenInput']
  }
  readonly VAppOwner: {
    readonly user: CloudDocuments['Person']
  }
  readonly VAppOwnerInput: {
    readonly user?: CloudDocuments['PersonInput']
  }
  readonly VAppRecord: {
    readonly href?: string
    readonly id?: string
    readonly name?: string
    readonly vdc?: string
    readonly vdcName?: string
    readonly org?: string
    readonly isPublic?: boolean
    readonly isEnabled?: boolean
    readonly isBusy?: boolean
    readonly creationDate?: string
    readonly status?: 'FAILED_CREATION' | 'UNRESOLVED' | 'RESOLVED' | 'SUSPENDED' | 'POWERED_ON' | 'POWERED_OFF' | 'UNKNOWN' | 'MIXED' | 'MISSING' | 'LOST'
    readonly owner?: string
    readonly ownerName?: string
    readonly isDeployed?: boolean
    readonly isInMaintenanceMode?: boolean
    readonly isExpired?: boolean
    readonly numberOfVMs?: number
    readonly numberOfCpus?: number
    readonly memoryMB?: number
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly metadata?: CloudDocuments['Metadata']
  }
  readonly VAppReferences: {
    readonly href?: string
    readonly type?: string
    readonly name: string
    readonly page: number
    readonly pageSize: number
    readonly total: number
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly vAppReference: readonly (CloudDocuments['Reference'])[]
  }
  readonly VAppTemplate: {
    readonly href?: string
    readonly type?: 'application/vnd.skerry.cloud.vAppTemplate+json'
    readonly id?: string
    /** Since 5.1. The same key in a request is the same request, as with the header Idempotency-Key. */
    readonly operationKey?: string
    readonly name: string
    readonly status: number
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly description?: string
    readonly tasks?: CloudDocuments['Tasks']
    /** Of the bytes of its disk. */
    readonly digest: CloudDocuments['Digest']
    readonly numberOfCpus?: number
    readonly memoryMB?: number
    readonly diskMB?: number
    /** What is made of it: one VM. */
    readonly children?: CloudDocuments['VAppTemplateChildren']
  }
  /** What is made of it: one VM. */
  readonly VAppTemplateChildren: {
    readonly vm: CloudDocuments['Vm']
  }
  readonly VAppTemplateRecord: {
    readonly href?: string
    readonly id?: string
    readonly name?: string
    readonly org?: string
    readonly orgName?: string
    readonly vdc?: string
    readonly vdcName?: string
    readonly catalog?: string
    readonly catalogItem?: string
    readonly catalogName?: string
    readonly creationDate?: string
    readonly isBusy?: boolean
    readonly isDeployed?: boolean
    readonly isEnabled?: boolean
    readonly isExpired?: boolean
    readonly isGoldMaster?: boolean
    readonly isPublished?: boolean
    readonly owner?: string
    readonly ownerName?: string
    readonly status?: string
    readonly storageProfileName?: string
    readonly numberOfCpus?: number
    readonly memoryMB?: number
    readonly diskMB?: number
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly metadata?: CloudDocuments['Metadata']
  }
  readonly VAppTemplateReferences: {
    readonly href?: string
    readonly type?: string
    readonly name: string
    readonly page: number
    readonly pageSize: number
    readonly total: number
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly vAppTemplateReference: readonly (CloudDocuments['Reference'])[]
  }
  readonly VMRecord: {
    readonly href?: string
    readonly id?: string
    readonly name?: string
    readonly containerName?: string
    readonly container?: string
    readonly vdc?: string
    readonly vdcName?: string
    readonly org?: string
    readonly owner?: string
    readonly ownerName?: string
    readonly isVAppTemplate?: boolean
    readonly isDeleted?: boolean
    readonly guestOs?: string
    readonly numberOfCpus?: number
    readonly memoryMB?: number
    readonly diskMB?: number
    readonly status?: 'FAILED_CREATION' | 'UNRESOLVED' | 'RESOLVED' | 'SUSPENDED' | 'POWERED_ON' | 'POWERED_OFF' | 'UNKNOWN' | 'MIXED' | 'MISSING' | 'LOST'
    readonly networkName?: string
    readonly ipAddress?: string
    readonly isBusy?: boolean
    readonly isDeployed?: boolean
    readonly isPublished?: boolean
    readonly catalogName?: string
    readonly hardwareVersion?: number
    readonly isInMaintenanceMode?: boolean
    readonly storageProfileName?: string
    readonly dateCreated?: string
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly metadata?: CloudDocuments['Metadata']
  }
  readonly VMReferences: {
    readonly href?: string
    readonly type?: string
    readonly name: string
    readonly page: number
    readonly pageSize: number
    readonly total: number
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly vmReference: readonly (CloudDocuments['Reference'])[]
  }
  /** A network outside of the cloud. */
  readonly VMWExternalNetwork: {
    readonly href?: string
    readonly type?: string
    readonly id?: string
    /** Since 5.1. The same key in a request is the same request, as with the header Idempotency-Key. */
    readonly operationKey?: string
    readonly name: string
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly description?: string
    readonly tasks?: CloudDocuments['Tasks']
    readonly configuration?: CloudDocuments['NetworkConfiguration']
    /** The name by which hosts know the bridge that leads to it. */
    readonly uplink?: string
    readonly vlan?: number
    /** Whether the default edge gateways of vdcs lead to it. */
    readonly isDefault?: boolean
    /** How many of its addresses edge gateways and organisations have. Not for requests. */
    readonly allocatedIpCount?: number
    readonly totalIpCount?: number
  }
  /** A network outside of the cloud. */
  readonly VMWExternalNetworkInput: {
    readonly href?: string
    readonly type?: string
    readonly id?: string
    /** Since 5.1. The same key in a request is the same request, as with the header Idempotency-Key. */
    readonly operationKey?: string
    readonly name?: string
    readonly link?: readonly (CloudDocuments['LinkInput'])[]
    readonly description?: string
    readonly tasks?: CloudDocuments['TasksInput']
    readonly configuration?: CloudDocuments['NetworkConfigurationInput']
    /** The name by which hosts know the bridge that leads to it. */
    readonly uplink?: string
    readonly vlan?: number
    /** Whether the default edge gateways of vdcs lead to it. */
    readonly isDefault?: boolean
    /** How many of its addresses edge gateways and organisations have. Not for requests. */
    readonly allocatedIpCount?: number
    readonly totalIpCount?: number
  }
  readonly VMWExternalNetworkReferences: {
    readonly href?: string
    readonly type?: string
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly externalNetworkReference: readonly (CloudDocuments['Reference'])[]
  }
  readonly Vdc: {
    readonly href?: string
    readonly type?: string
    readonly id?: string
    /** Since 5.1. The same key in a request is the same request, as with the header Idempotency-Key. */
    readonly operationKey?: string
    readonly name: string
    /** 1: ready. */
    readonly status: number
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly description?: string
    readonly tasks?: CloudDocuments['Tasks']
    /** Since 5.1, with ?unavailable=true. Something to do that has no link now, and why. */
    readonly unavailable: readonly (CloudDocuments['Unavailable'])[]
    readonly allocationModel?: string
    readonly computeCapacity?: CloudDocuments['VdcComputeCapacity']
    readonly storageCapacity?: CloudDocuments['Capacity']
    readonly resourceEntities: CloudDocuments['VdcResourceEntities']
    /** The networks that its VMs may be on, if there are any. */
    readonly availableNetworks?: CloudDocuments['VdcAvailableNetworks']
    readonly vmQuota?: number
    readonly isEnabled?: boolean
  }
  /** The networks that its VMs may be on, if there are any. */
  readonly VdcAvailableNetworks: {
    readonly network: readonly (CloudDocuments['Reference'])[]
  }
  readonly VdcComputeCapacity: {
    readonly cpu: CloudDocuments['Capacity']
    readonly memory: CloudDocuments['Capacity']
  }
  readonly VdcResourceEntities: {
    /** How many there are. At most 128 vApps and 128 templates are named here; the links of the vdc lead to all of them. */
    readonly total: number
    readonly resourceEntity: readonly (CloudDocuments['Reference'])[]
  }
  readonly Vdcs: {
    readonly vdc: readonly (CloudDocuments['Reference'])[]
  }
  readonly VdcsInput: {
    readonly vdc?: readonly (CloudDocuments['ReferenceInput'])[]
  }
  readonly VersionInfo: {
    readonly version: string
    readonly loginUrl: string
  }
  /** Processors, memory and disks, an item each. */
  readonly VirtualHardwareSection: {
    readonly required?: boolean
    readonly info: string
    readonly item: readonly (CloudDocuments['ItemType'])[]
  }
  /** Processors, memory and disks, an item each. */
  readonly VirtualHardwareSectionInput: {
    readonly required?: boolean
    readonly info?: string
    readonly item?: readonly (CloudDocuments['ItemTypeInput'])[]
  }
  readonly Vm: {
    readonly href?: string
    readonly type?: 'application/vnd.skerry.cloud.vm+json'
    readonly id?: string
    /** Since 5.1. The same key in a request is the same request, as with the header Idempotency-Key. */
    readonly operationKey?: string
    readonly name: string
    readonly status?: -1 | 0 | 1 | 3 | 4 | 6 | 8 | 9 | 10
    readonly deployed?: boolean
    readonly needsCustomization?: boolean
    /** Since 5.1. */
    readonly nestedHypervisorEnabled?: boolean
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly description?: string
    readonly tasks?: CloudDocuments['Tasks']
    /** Since 5.1, with ?unavailable=true. Something to do that has no link now, and why. */
    readonly unavailable: readonly (CloudDocuments['Unavailable'])[]
    /** Processors, memory and disks, an item each. */
    readonly virtualHardwareSection?: CloudDocuments['VirtualHardwareSection']
    readonly operatingSystemSection?: CloudDocuments['OperatingSystemSection']
    readonly networkConnectionSection?: CloudDocuments['NetworkConnectionSection']
    /** No section ever holds a password. */
    readonly guestCustomizationSection?: CloudDocuments['GuestCustomizationSection']
    /** Since 5.1. A VM has one snapshot at most. */
    readonly snapshotSection?: CloudDocuments['SnapshotSection']
    readonly dateCreated?: string
    readonly vAppScopedLocalId?: string
    /** When its host last reported it, while its state is unknown. */
    readonly lastSeen?: string
  }
  readonly VmInput: {
    readonly href?: string
    readonly type?: string
    readonly id?: string
    /** Since 5.1. The same key in a request is the same request, as with the header Idempotency-Key. */
    readonly operationKey?: string
    readonly name?: string
    readonly status?: -1 | 0 | 1 | 3 | 4 | 6 | 8 | 9 | 10
    readonly deployed?: boolean
    readonly needsCustomization?: boolean
    /** Since 5.1. */
    readonly nestedHypervisorEnabled?: boolean
    readonly link?: readonly (CloudDocuments['LinkInput'])[]
    readonly description?: string
    readonly tasks?: CloudDocuments['TasksInput']
    /** Since 5.1, with ?unavailable=true. Something to do that has no link now, and why. */
    readonly unavailable?: readonly (CloudDocuments['UnavailableInput'])[]
    /** Processors, memory and disks, an item each. */
    readonly virtualHardwareSection?: CloudDocuments['VirtualHardwareSectionInput']
    readonly operatingSystemSection?: CloudDocuments['OperatingSystemSectionInput']
    readonly networkConnectionSection?: CloudDocuments['NetworkConnectionSectionInput']
    /** No section ever holds a password. */
    readonly guestCustomizationSection?: CloudDocuments['GuestCustomizationSectionInput']
    /** Since 5.1. A VM has one snapshot at most. */
    readonly snapshotSection?: CloudDocuments['SnapshotSectionInput']
    readonly dateCreated?: string
    readonly vAppScopedLocalId?: string
    /** When its host last reported it, while its state is unknown. */
    readonly lastSeen?: string
  }
  /** Why a task does not go on, as it is at the moment of reading. */
  readonly Waiting: {
    readonly reason: 'turn' | 'order' | 'source' | 'source-host' | 'host-out' | 'host-quarantine' | 'host-silent' | 'pending-undo' | 'claim' | 'host-limit' | 'org-limit' | 'worker' | 'room' | 'retry'
    /** The reason in words. */
    readonly message: string
    /** What can be done about it. */
    readonly next: string
    /** The task that comes first. */
    readonly task?: string
    readonly since?: string
    /** How often the current step was attempted and failed. */
    readonly attempts?: number
    readonly lastFailure?: string
    readonly lastFailureAt?: string
    /** When the task turns back if it has not gone on. One that has not begun waits until it is canceled. */
    readonly givesUpAt?: string
  }
  /** Why a task does not go on, as it is at the moment of reading. */
  readonly WaitingInput: {
    readonly reason?: 'turn' | 'order' | 'source' | 'source-host' | 'host-out' | 'host-quarantine' | 'host-silent' | 'pending-undo' | 'claim' | 'host-limit' | 'org-limit' | 'worker' | 'room' | 'retry'
    /** The reason in words. */
    readonly message?: string
    /** What can be done about it. */
    readonly next?: string
    /** The task that comes first. */
    readonly task?: string
    readonly since?: string
    /** How often the current step was attempted and failed. */
    readonly attempts?: number
    readonly lastFailure?: string
    readonly lastFailureAt?: string
    /** When the task turns back if it has not gone on. One that has not begun waits until it is canceled. */
    readonly givesUpAt?: string
  }
  /** An address that gets the events of an organisation, in their order. */
  readonly Webhook: {
    readonly href?: string
    readonly type?: string
    readonly id?: string
    /** Since 5.1. The same key in a request is the same request, as with the header Idempotency-Key. */
    readonly operationKey?: string
    readonly name: string
    readonly link: readonly (CloudDocuments['Link'])[]
    readonly description?: string
    readonly tasks?: CloudDocuments['Tasks']
    readonly isEnabled?: boolean
    readonly url: string
    /** A kind of events, or vm. for all kinds that begin with it. None: all kinds. */
    readonly kind: readonly (string)[]
    /** It signs messages. Only in the response that makes it. */
    readonly secret?: string
    /** Events that were not taken yet, counted up to 1000. Not for requests. */
    readonly behind?: number
    /** asked: by an administrator. failing: it took nothing for three days. gone: it answered 410. Not for requests. */
    readonly disabledBecause?: string
    readonly failingSince?: string
    readonly nextAttempt?: string
    readonly lastAnswer?: string
    /** A message, the newest first. Not for requests. */
    readonly delivery: readonly (CloudDocuments['WebhookDelivery'])[]
  }
  /** A message, the newest first. Not for requests. */
  readonly WebhookDelivery: {
    readonly at: string
    readonly taken: boolean
    readonly answer: string
    /** The HTTP status; missing: there was no answer. */
    readonly status?: number
    readonly milliseconds: number
    readonly events: number
    /** The id of the first event: From of ResendParams. */
    readonly firstEvent: string
    readonly lastEvent: string
  }
  /** A message, the newest first. Not for requests. */
  readonly WebhookDeliveryInput: {
    readonly at?: string
    readonly taken?: boolean
    readonly answer?: string
    /** The HTTP status; missing: there was no answer. */
    readonly status?: number
    readonly milliseconds?: number
    readonly events?: number
    /** The id of the first event: From of ResendParams. */
    readonly firstEvent?: string
    readonly lastEvent?: string
  }
  /** An address that gets the events of an organisation, in their order. */
  readonly WebhookInput: {
    readonly href?: string
    readonly type?: string
    readonly id?: string
    /** Since 5.1. The same key in a request is the same request, as with the header Idempotency-Key. */
    readonly operationKey?: string
    readonly name?: string
    readonly link?: readonly (CloudDocuments['LinkInput'])[]
    readonly description?: string
    readonly tasks?: CloudDocuments['TasksInput']
    readonly isEnabled?: boolean
    readonly url?: string
    /** A kind of events, or vm. for all kinds that begin with it. None: all kinds. */
    readonly kind?: readonly (string)[]
    /** It signs messages. Only in the response that makes it. */
    readonly secret?: string
    /** Events that were not taken yet, counted up to 1000. Not for requests. */
    readonly behind?: number
    /** asked: by an administrator. failing: it took nothing for three days. gone: it answered 410. Not for requests. */
    readonly disabledBecause?: string
    readonly failingSince?: string
    readonly nextAttempt?: string
    readonly lastAnswer?: string
    /** A message, the newest first. Not for requests. */
    readonly delivery?: readonly (CloudDocuments['WebhookDeliveryInput'])[]
  }
  /** What the receiver of a webhook answered to a test. */
  readonly WebhookTest: {
    readonly type?: string
    readonly taken: boolean
    readonly message: string
  }
  /** The webhooks of an organisation. */
  readonly Webhooks: {
    readonly href?: string
    readonly type?: string
    readonly link: readonly (CloudDocuments['Link'])[]
    /** An address that gets the events of an organisation, in their order. */
    readonly webhook: readonly (CloudDocuments['Webhook'])[]
  }
}

/** What each operation takes and returns. */
export interface CloudOperations {
  /** The supported API versions, and where to log in. */
  readonly listVersions: {
    readonly answer: CloudDocuments['SupportedVersions']
  }
  /** Logs in with Basic credentials of user@organisation; an API token is accepted as the password. If the account has a second factor, its code, or a recovery code, is needed too; a missing one is reported as SECOND_FACTOR. The token is returned in a header; the web UI gets it in a cookie instead. */
  readonly createSession: {
    readonly answer: CloudDocuments['Session']
  }
  /** The session of this token: its user and organisation. */
  readonly readSession: {
    readonly answer: CloudDocuments['Session']
  }
  /** Logs out: the token is invalid from then on. An API token is revoked at its own address instead. */
  readonly deleteSession: {
    readonly answer: undefined
  }
  /** Lists the API tokens of the caller. The secret of a token is returned only when it is created. */
  readonly listAccessTokens: {
    readonly answer: CloudDocuments['AccessTokens']
  }
  /** Creates an API token. It has the rights of its user until it is revoked or expires, and is accepted wherever a password is. Only a session that began with a password can create one. */
  readonly addAccessToken: {
    readonly body: CloudDocuments['AccessTokenParams']
    readonly answer: CloudDocuments['AccessToken']
  }
  /** An API token of the caller: when it was created and last used, and when it expires. */
  readonly readAccessToken: {
    readonly params: { readonly accessToken: string }
    readonly answer: CloudDocuments['AccessToken']
  }
  /** Revokes an API token. It is invalid from then on. */
  readonly deleteAccessToken: {
    readonly params: { readonly accessToken: string }
    readonly answer: undefined
  }
  /** The second factors of the caller, how many recovery codes are left, and whether the organisation requires a second factor. Never a secret. */
  readonly listSecondFactors: {
    readonly answer: CloudDocuments['SecondFactors']
  }
  /** Adds a second factor: an app that makes codes (TOTP). The secret is returned only here. It counts after it is confirmed, within 15 minutes. An account that has a confirmed one needs a code of it. Users whom an identity server proves have their second factor there. Passkeys are added in the web UI, and are listed and removed as the others are. */
  readonly addSecondFactor: {
    readonly body: CloudDocuments['SecondFactorParams']
    readonly answer: CloudDocuments['NewSecondFactor']
  }
  /** A second factor of the caller: when it was added and last used. Never its secret. */
  readonly readSecondFactor: {
    readonly params: { readonly secondFactor: string }
    readonly answer: CloudDocuments['SecondFactor']
  }
  /** Removes a second factor. One that is confirmed needs a code of the account. With the last one, the recovery codes end. */
  readonly deleteSecondFactor: {
    readonly params: { readonly secondFactor: string }
    readonly answer: undefined
  }
  /** Confirms a second factor with a code of it: from then on a password alone does not log in. For the first one, the response has ten recovery codes, which are never shown again, and other unconfirmed ones end; later the list is empty. */
  readonly confirmSecondFactor: {
    readonly params: { readonly secondFactor: string }
    readonly body: CloudDocuments['SecondFactorCode']
    readonly answer: CloudDocuments['RecoveryCodes']
  }
  /** Makes ten new recovery codes, which are never shown again; earlier ones end. It needs a code of the account. */
  readonly replaceRecoveryCodes: {
    readonly answer: CloudDocuments['RecoveryCodes']
  }
  /** The organisations that the caller can see. */
  readonly listOrgs: {
    readonly answer: CloudDocuments['OrgList']
  }
  /** An organisation, with its virtual data centres, its catalogs, its networks and its tasks. */
  readonly readOrg: {
    readonly params: { readonly org: string }
    readonly answer: CloudDocuments['Org']
  }
  /** A virtual data centre, with its templates, its first 128 vApps by name, and query links for all of them. With ?unavailable=true it also names the actions that are not available. */
  readonly readVdc: {
    readonly params: { readonly vdc: string }
    readonly query?: { readonly unavailable?: string }
    readonly answer: CloudDocuments['Vdc']
  }
  /** A template for vApps, or the VM in it. */
  readonly readTemplate: {
    readonly params: { readonly template: string }
    readonly answer: CloudDocuments['VAppTemplate'] | CloudDocuments['Vm']
  }
  /** Creates a vApp from a template. Returns the document of the vApp that is being created, with its task. */
  readonly instantiate: {
    readonly params: { readonly vdc: string }
    readonly body: CloudDocuments['InstantiateVAppTemplateParams']
    readonly answer: CloudDocuments['VApp']
  }
  /** Creates a network: isolated, or natRouted behind an edge gateway (default: that of the vdc). Its range has a netmask from /16 to /29 and may be the same as that of another organisation. With IsIpv6Enabled a natRouted network has IPv6 too. The task in the response ends when the hosts have the network. */
  readonly addNetwork: {
    readonly params: { readonly vdc: string }
    readonly body: CloudDocuments['OrgVdcNetworkInput']
    readonly answer: CloudDocuments['OrgVdcNetwork']
  }
  /** A network of a vdc: its addresses, and whether it reaches the outside. Its status is 1 when all hosts have it as it is here. */
  readonly readNetwork: {
    readonly params: { readonly network: string }
    readonly answer: CloudDocuments['OrgVdcNetwork']
  }
  /** A network of a vdc: its addresses, and whether it reaches the outside. Its status is 1 when all hosts have it as it is here. */
  readonly readAdminNetwork: {
    readonly params: { readonly network: string }
    readonly answer: CloudDocuments['OrgVdcNetwork']
  }
  /** Changes name, description, name servers and IpRanges of a network; gateway, netmask and IsIpv6Enabled only while no VM is on it. What the body does not contain stays. VMs keep their addresses. */
  readonly changeNetwork: {
    readonly params: { readonly network: string }
    readonly body: CloudDocuments['OrgVdcNetworkInput']
    readonly answer: CloudDocuments['Task']
  }
  /** Deletes a network. No VM may be on it. */
  readonly deleteNetwork: {
    readonly params: { readonly network: string }
    readonly answer: CloudDocuments['Task']
  }
  /** The addresses of a network that VMs have, in their order. */
  readonly listAllocatedAddresses: {
    readonly params: { readonly network: string }
    readonly answer: CloudDocuments['AllocatedIpAddresses']
  }
  /** The edge gateways of a vdc, as GET /api/query?type=edgeGateway lists them. */
  readonly listEdgeGateways: {
    readonly params: { readonly vdc: string }
    readonly query?: { readonly type?: string; readonly filter?: string; readonly filterEncoded?: string; readonly fields?: string; readonly page?: string; readonly pageSize?: string; readonly format?: string; readonly sortAsc?: string; readonly sortDesc?: string; readonly after?: string }
    readonly answer: CloudDocuments['QueryResultRecords']
  }
  /** Creates an edge gateway to the external network that its uplink names (default: the default one). A vdc gets one called default when it first needs it. */
  readonly addEdgeGateway: {
    readonly params: { readonly vdc: string }
    readonly body: CloudDocuments['EdgeGatewayInput']
    readonly answer: CloudDocuments['EdgeGateway']
  }
  /** An edge gateway: its external network and addresses, its networks, its firewall, NAT rules and static routes. Its status is 1 when all hosts have it as it is here. */
  readonly readEdgeGateway: {
    readonly params: { readonly edgeGateway: string }
    readonly answer: CloudDocuments['EdgeGateway']
  }
  /** Changes name, description and services of an edge gateway. With the right external:admin also its uplink, while it has no external addresses, NAT rules and static routes. What the body does not contain stays; a body with an older version is refused. */
  readonly changeEdgeGateway: {
    readonly params: { readonly edgeGateway: string }
    readonly body: CloudDocuments['EdgeGatewayInput']
    readonly answer: CloudDocuments['Task']
  }
  /** Deletes an edge gateway that has no networks and no external addresses. */
  readonly deleteEdgeGateway: {
    readonly params: { readonly edgeGateway: string }
    readonly answer: CloudDocuments['Task']
  }
  /** Replaces services of an edge gateway: FirewallService, NatService, StaticRoutingService. Those that the body does not contain stay. A body with an older version is refused. */
  readonly configureServices: {
    readonly params: { readonly edgeGateway: string }
    readonly body: CloudDocuments['GatewayFeaturesInput']
    readonly answer: CloudDocuments['Task']
  }
  /** The external addresses that the organisation took for an edge gateway. */
  readonly listExternalAddresses: {
    readonly params: { readonly edgeGateway: string }
    readonly answer: CloudDocuments['ExternalAddresses']
  }
  /** Takes an address of the external network for the organisation: the one that IpAddress names, or the next free one. */
  readonly takeExternalAddress: {
    readonly params: { readonly edgeGateway: string }
    readonly body: CloudDocuments['ExternalAddressInput']
    readonly answer: CloudDocuments['ExternalAddress']
  }
  /** Gives an external address back. No NAT rule may use it. */
  readonly releaseExternalAddress: {
    readonly params: { readonly edgeGateway: string; readonly address: string }
    readonly answer: undefined
  }
  /** All external networks. */
  readonly listExternalNetworks: {
    readonly answer: CloudDocuments['VMWExternalNetworkReferences']
  }
  /** Creates an external network: the uplink by which hosts reach it, its gateway and netmask, and IpRanges, whose addresses are given to edge gateways and organisations. */
  readonly addExternalNetwork: {
    readonly body: CloudDocuments['VMWExternalNetworkInput']
    readonly answer: CloudDocuments['VMWExternalNetwork']
  }
  /** An external network. Organisations see name, gateway and netmask of those that their edge gateways and networks lead to; the right external:admin also shows the pool, and how many of its addresses are in use. */
  readonly readExternalNetwork: {
    readonly params: { readonly externalNetwork: string }
    readonly answer: CloudDocuments['VMWExternalNetwork']
  }
  /** Changes name, description, name servers and IpRanges of an external network, and whether it is the default. Addresses in use stay in the IpRanges. */
  readonly changeExternalNetwork: {
    readonly params: { readonly externalNetwork: string }
    readonly body: CloudDocuments['VMWExternalNetworkInput']
    readonly answer: CloudDocuments['VMWExternalNetwork']
  }
  /** Deletes an external network that no edge gateway and no network leads to. */
  readonly deleteExternalNetwork: {
    readonly params: { readonly externalNetwork: string }
    readonly answer: undefined
  }
  /** The security groups of an organisation, by name. */
  readonly listSecurityGroups: {
    readonly params: { readonly org: string }
    readonly answer: CloudDocuments['SecurityGroups']
  }
  /** Creates a security group. It applies to the VMs whose metadata has all labels of its Selector. With Inbound, these accept only what a rule allows; with Outbound, they send only that. Replies always pass. A VM in several groups has the rules of all of them. */
  readonly addSecurityGroup: {
    readonly params: { readonly org: string }
    readonly body: CloudDocuments['SecurityGroupInput']
    readonly answer: CloudDocuments['SecurityGroup']
  }
  /** A security group: its labels, its rules, and the VMs that have the labels. Its status is 1 when the hosts have its rules. */
  readonly readSecurityGroup: {
    readonly params: { readonly securityGroup: string }
    readonly answer: CloudDocuments['SecurityGroup']
  }
  /** Replaces the labels and rules of a security group; name and description stay if the body lacks them. With a version in the body, the request is refused if the group has another one. Open connections that are not allowed any more are blocked. */
  readonly changeSecurityGroup: {
    readonly params: { readonly securityGroup: string }
    readonly body: CloudDocuments['SecurityGroupInput']
    readonly answer: CloudDocuments['SecurityGroup']
  }
  /** Deletes a security group. Rules of other groups may not name it as a peer. */
  readonly deleteSecurityGroup: {
    readonly params: { readonly securityGroup: string }
    readonly answer: undefined
  }
  /** The roles of an organisation, by name, beside those that every organisation has. */
  readonly listRoles: {
    readonly params: { readonly org: string }
    readonly answer: CloudDocuments['OrgRoles']
  }
  /** Adds a role to the organisation: a set of rights, none of which the caller lacks. Users and groups of identity servers have it by its name, which never changes. The right session is always in it. */
  readonly addRole: {
    readonly params: { readonly org: string }
    readonly body: CloudDocuments['OrgRoleInput']
    readonly answer: CloudDocuments['OrgRole']
  }
  /** A role of an organisation: its rights, and how many users and groups have it. */
  readonly readRole: {
    readonly params: { readonly role: string }
    readonly answer: CloudDocuments['OrgRole']
  }
  /** Replaces the rights of a role. It takes effect at once for sessions, API tokens, event streams, workflow runs and screens of its users; the order of the roles of groups changes within 15 minutes. */
  readonly changeRole: {
    readonly params: { readonly role: string }
    readonly body: CloudDocuments['OrgRoleInput']
    readonly answer: CloudDocuments['OrgRole']
  }
  /** Removes a role that no user and no group has. */
  readonly deleteRole: {
    readonly params: { readonly role: string }
    readonly answer: undefined
  }
  /** The identity servers of an organisation, by name. A name without an account is looked up in each of them, in this order. */
  readonly listIdentityProviders: {
    readonly params: { readonly org: string }
    readonly answer: CloudDocuments['IdentityProviders']
  }
  /** Adds a server that proves users of the organisation: kind ldap, such as OpenLDAP or Active Directory, or kind oidc, an OpenID Connect server, for logins in the browser. Users get the highest role that one of their groups has; their accounts are created at their first login. Password, of the reader or of the client, is never returned. Only with TLS. */
  readonly addIdentityProvider: {
    readonly params: { readonly org: string }
    readonly body: CloudDocuments['IdentityProviderInput']
    readonly answer: CloudDocuments['IdentityProvider']
  }
  /** An identity server: how it is asked, and the roles of its groups. SilentSince: it does not answer. DoubtedSince: it reports that more users have left than is plausible, and nothing is changed. */
  readonly readIdentityProvider: {
    readonly params: { readonly provider: string }
    readonly answer: CloudDocuments['IdentityProvider']
  }
  /** Replaces the settings of an identity server, enables or disables it. Without Password the stored one stays, unless Url, Reader, Client or Ca change. Users of a disabled server cannot log in with it; their sessions and tokens stay. */
  readonly changeIdentityProvider: {
    readonly params: { readonly provider: string }
    readonly body: CloudDocuments['IdentityProviderInput']
    readonly answer: CloudDocuments['IdentityProvider']
  }
  /** Removes an identity server. No user may depend on it. */
  readonly deleteIdentityProvider: {
    readonly params: { readonly provider: string }
    readonly answer: undefined
  }
  /** Asks an LDAP server as its reader, and counts the people and groups that it finds; asks an OpenID Connect server for its discovery document. The answer is 200 also if the server does not answer. */
  readonly testIdentityProvider: {
    readonly params: { readonly provider: string }
    readonly answer: CloudDocuments['IdentityProviderTest']
  }
  /** Replaces the groups that have roles, by name or by DN. It takes effect at the next login of each user, and within 15 minutes for all. */
  readonly writeGroupRoles: {
    readonly params: { readonly provider: string }
    readonly body: CloudDocuments['GroupRoles']
    readonly answer: CloudDocuments['IdentityProvider']
  }
  /** The webhooks of an organisation, by name: addresses that get its events. Without their deliveries. */
  readonly listWebhooks: {
    readonly params: { readonly org: string }
    readonly answer: CloudDocuments['Webhooks']
  }
  /** Adds a webhook, which gets the events of the organisation from now on, in their order, as batches of CloudEvents that are signed as Standard Webhooks are. A webhook of the organisation System gets the events of all organisations. Kind: vm. is all kinds that begin with it; without any, all are sent. The response contains the Secret, which is never shown again. Only servers on the list of the egress are called. */
  readonly addWebhook: {
    readonly params: { readonly org: string }
    readonly body: CloudDocuments['WebhookInput']
    readonly answer: CloudDocuments['Webhook']
  }
  /** A webhook with its last 20 deliveries. Behind: events after the last that was taken, counted up to 1000. FailingSince: the receiver has taken nothing since then. */
  readonly readWebhook: {
    readonly params: { readonly webhook: string }
    readonly answer: CloudDocuments['Webhook']
  }
  /** Replaces Url and Kind, enables or disables a webhook. One that is enabled again continues where it stopped. */
  readonly changeWebhook: {
    readonly params: { readonly webhook: string }
    readonly body: CloudDocuments['WebhookInput']
    readonly answer: CloudDocuments['Webhook']
  }
  /** Removes a webhook and the list of its deliveries. */
  readonly deleteWebhook: {
    readonly params: { readonly webhook: string }
    readonly answer: undefined
  }
  /** Sends a message with one event of the type skerry.webhook.test now. The answer is 200 also if the receiver does not take it; taken and Message report it. */
  readonly testWebhook: {
    readonly params: { readonly webhook: string }
    readonly answer: CloudDocuments['WebhookTest']
  }
  /** Sends the events again, from this one on, in their order; From is the id of an event that was sent, or 0-0 for all that are kept. */
  readonly resendEvents: {
    readonly params: { readonly webhook: string }
    readonly body: CloudDocuments['ResendParams']
    readonly answer: CloudDocuments['Webhook']
  }
  /** Replaces the secret of a webhook; the response contains the new one, which is never shown again. For 24 hours messages are signed with both. */
  readonly replaceSecret: {
    readonly params: { readonly webhook: string }
    readonly answer: CloudDocuments['Webhook']
  }
  /** A catalog with its items; with ?unavailable=true, also the actions that are not possible, with the reason. */
  readonly readCatalog: {
    readonly params: { readonly catalog: string }
    readonly query?: { readonly unavailable?: string }
    readonly answer: CloudDocuments['Catalog']
  }
  /** A catalog item, with a link to its template. */
  readonly readCatalogItem: {
    readonly params: { readonly catalogItem: string }
    readonly answer: CloudDocuments['CatalogItem']
  }
  /** The entity resolver: append an id to this address. */
  readonly readResolver: {
    readonly answer: CloudDocuments['Entity']
  }
  /** Resolves an id, a URN or the last part of an href, to the address of its document. */
  readonly resolve: {
    readonly params: { readonly urn: string }
    readonly answer: CloudDocuments['Entity']
  }
  /** Announces an image for a template. The response says where to send its bytes. An upload that receives nothing for a day is deleted. */
  readonly startUpload: {
    readonly params: { readonly catalog: string }
    readonly body: CloudDocuments['UploadParams']
    readonly answer: CloudDocuments['Upload']
  }
  /** How many bytes of an image were received: sending continues at that offset. */
  readonly readUpload: {
    readonly params: { readonly upload: string }
    readonly answer: CloudDocuments['Upload']
  }
  /** Deletes an upload and its received bytes. */
  readonly deleteUpload: {
    readonly params: { readonly upload: string }
    readonly answer: undefined
  }
  /** A vApp or VM, with a link for each action that is possible now; with ?unavailable=true, the other actions with the reason. */
  readonly readEntity: {
    readonly params: { readonly entity: string }
    readonly query?: { readonly unavailable?: string }
    readonly answer: CloudDocuments['VApp'] | CloudDocuments['Vm']
  }
  /** Deletes a VM, or a vApp with all its VMs. They must not be running. */
  readonly deleteEntity: {
    readonly params: { readonly entity: string }
    readonly answer: CloudDocuments['Task']
  }
  /** Renames a vApp or a VM. */
  readonly rename: {
    readonly params: { readonly entity: string }
    readonly body: CloudDocuments['VAppInput'] | CloudDocuments['VmInput']
    readonly answer: CloudDocuments['Task']
  }
  /** The snapshot of a VM, or the newest snapshot among the VMs of a vApp. */
  readonly readSnapshotSection: {
    readonly params: { readonly entity: string }
    readonly answer: CloudDocuments['SnapshotSection']
  }
  /** For each of its VMs, in order: Starts the VM, or resumes it if it is suspended. */
  readonly powerOn: {
    readonly params: { readonly entity: string }
    readonly answer: CloudDocuments['Task']
  }
  /** For each of its VMs, in order: Powers the VM off immediately, without shutting down the guest. */
  readonly powerOff: {
    readonly params: { readonly entity: string }
    readonly answer: CloudDocuments['Task']
  }
  /** For each of its VMs, in order: Saves the memory of the VM to disk and stops it; powerOn resumes it. */
  readonly suspend: {
    readonly params: { readonly entity: string }
    readonly answer: CloudDocuments['Task']
  }
  /** For each of its VMs, in order: Asks the guest to shut down. If it does not, the VM stays on, and the task reports that. */
  readonly shutdown: {
    readonly params: { readonly entity: string }
    readonly answer: CloudDocuments['Task']
  }
  /** For each of its VMs, in order: Asks the guest to reboot. If it is unknown whether the guest was asked, the task reports that. */
  readonly reboot: {
    readonly params: { readonly entity: string }
    readonly answer: CloudDocuments['Task']
  }
  /** For each of its VMs, in order: Resets the VM without shutting down the guest. If it is unknown whether that happened, the task reports that. */
  readonly reset: {
    readonly params: { readonly entity: string }
    readonly answer: CloudDocuments['Task']
  }
  /** For each of its VMs, in order: Discards the saved memory of a suspended VM: the VM is off then, and boots at its next start. */
  readonly discardSuspendedState: {
    readonly params: { readonly entity: string }
    readonly answer: CloudDocuments['Task']
  }
  /** For each of its VMs, in order: Takes a snapshot of the VM, with its memory if the VM runs and memory is not false. It replaces the previous snapshot, and the task reports that. */
  readonly takeSnapshot: {
    readonly params: { readonly entity: string }
    readonly body?: CloudDocuments['CreateSnapshotParams']
    readonly answer: CloudDocuments['Task']
  }
  /** For each of its VMs, in order: Reverts the VM to its snapshot. */
  readonly revertToCurrentSnapshot: {
    readonly params: { readonly entity: string }
    readonly answer: CloudDocuments['Task']
  }
  /** For each of its VMs, in order: Deletes the snapshot; the VM stays as it is. */
  readonly removeAllSnapshots: {
    readonly params: { readonly entity: string }
    readonly answer: CloudDocuments['Task']
  }
  /** Enables nested virtualisation, from the next start on: the guest can run VMs of its own. */
  readonly enableNestedHypervisor: {
    readonly params: { readonly entity: string }
    readonly answer: CloudDocuments['Task']
  }
  /** Disables nested virtualisation, from the next start on. */
  readonly disableNestedHypervisor: {
    readonly params: { readonly entity: string }
    readonly answer: CloudDocuments['Task']
  }
  /** Changes the processors, memory or disk of the VM, which must be off. A disk cannot shrink. */
  readonly reconfigureVm: {
    readonly params: { readonly entity: string }
    readonly body: CloudDocuments['VmInput']
    readonly answer: CloudDocuments['Task']
  }
  /** Powers it on, optionally with a lease (deploymentLeaseSeconds). If powerOn is false, only the lease is set. */
  readonly deploy: {
    readonly params: { readonly entity: string }
    readonly body?: CloudDocuments['DeployVAppParams']
    readonly answer: CloudDocuments['Task']
  }
  /** Stops it by powerOff, suspend or shutdown, as given in UndeployPowerAction. */
  readonly undeploy: {
    readonly params: { readonly entity: string }
    readonly body?: CloudDocuments['UndeployVAppParams']
    readonly answer: CloudDocuments['Task']
  }
  /** Creates a vApp from any number of templates, one VM from each. It is started only if powerOn is true. */
  readonly compose: {
    readonly params: { readonly vdc: string }
    readonly body: CloudDocuments['ComposeVAppParams']
    readonly answer: CloudDocuments['VApp']
  }
  /** Adds VMs from templates to a vApp, and deletes VMs from it. */
  readonly recompose: {
    readonly params: { readonly entity: string }
    readonly body: CloudDocuments['RecomposeVAppParams']
    readonly answer: CloudDocuments['Task']
  }
  /** Creates a vApp as a copy of another, whose VMs must be off. Each copy is made on the host of its source VM; operations on the source wait meanwhile. */
  readonly clone: {
    readonly params: { readonly vdc: string }
    readonly body: CloudDocuments['CloneVAppParams']
    readonly answer: CloudDocuments['VApp']
  }
  /** How long a vApp may run, and how long it is kept while it does not run; 0: no limit. */
  readonly readLease: {
    readonly params: { readonly entity: string }
    readonly answer: CloudDocuments['LeaseSettingsSection']
  }
  /** Sets the leases of a vApp, within the limits of its organisation, and restarts them. What the body does not contain stays. */
  readonly changeLease: {
    readonly params: { readonly entity: string }
    readonly body: CloudDocuments['LeaseSettingsSectionInput']
    readonly answer: CloudDocuments['Task']
  }
  /** The processors of a VM. */
  readonly readProcessors: {
    readonly params: { readonly entity: string }
    readonly answer: CloudDocuments['Item']
  }
  /** Sets the number of processors to VirtualQuantity. The VM must be off. */
  readonly changeProcessors: {
    readonly params: { readonly entity: string }
    readonly body: CloudDocuments['ItemInput']
    readonly answer: CloudDocuments['Task']
  }
  /** The memory of a VM, in MiB. */
  readonly readMemory: {
    readonly params: { readonly entity: string }
    readonly answer: CloudDocuments['Item']
  }
  /** Sets the memory to VirtualQuantity, in MiB. The VM must be off. */
  readonly changeMemory: {
    readonly params: { readonly entity: string }
    readonly body: CloudDocuments['ItemInput']
    readonly answer: CloudDocuments['Task']
  }
  /** The network cards of a VM. */
  readonly readConnections: {
    readonly params: { readonly entity: string }
    readonly answer: CloudDocuments['NetworkConnectionSection']
  }
  /** Changes the networks, addresses and modes of the cards of a VM that is off. While it is on, only IsConnected may change. */
  readonly changeConnections: {
    readonly params: { readonly entity: string }
    readonly body: CloudDocuments['NetworkConnectionSectionInput']
    readonly answer: CloudDocuments['Task']
  }
  /** The metadata of a vApp or VM. */
  readonly readMetadata: {
    readonly params: { readonly entity: string }
    readonly answer: CloudDocuments['Metadata']
  }
  /** Adds metadata: existing keys get the new value, all others stay. */
  readonly mergeMetadata: {
    readonly params: { readonly entity: string }
    readonly body: CloudDocuments['MetadataInput']
    readonly answer: CloudDocuments['Task']
  }
  /** The value of one key. */
  readonly readMetadataValue: {
    readonly params: { readonly entity: string; readonly key: string }
    readonly answer: CloudDocuments['MetadataValue']
  }
  /** Sets the value of one key. */
  readonly writeMetadataValue: {
    readonly params: { readonly entity: string; readonly key: string }
    readonly body: CloudDocuments['MetadataValueInput']
    readonly answer: CloudDocuments['Task']
  }
  /** Deletes one key. */
  readonly deleteMetadataValue: {
    readonly params: { readonly entity: string; readonly key: string }
    readonly answer: CloudDocuments['Task']
  }
  /** With whom a vApp is shared: users and groups of its organisation, or everyone in it, each with a level. Roles reach it besides. */
  readonly readVappAccess: {
    readonly params: { readonly entity: string }
    readonly answer: CloudDocuments['ControlAccessParams']
  }
  /** Replaces the list of those with whom a vApp is shared: ReadOnly shows it, Change also starts, stops and shows its screens, FullControl also changes, deletes and shares it. No one gives, changes or takes away a level with more rights than they have there themselves. A share counts from the next request on. */
  readonly changeVappAccess: {
    readonly params: { readonly entity: string }
    readonly body: CloudDocuments['ControlAccessParamsInput']
    readonly answer: CloudDocuments['ControlAccessParams']
  }
  /** With whom a catalog is shared: users and groups of its organisation, or everyone in it, each with a level. Roles reach it besides. */
  readonly readCatalogAccess: {
    readonly params: { readonly catalog: string }
    readonly answer: CloudDocuments['ControlAccessParams']
  }
  /** Replaces the list of those with whom a catalog is shared: ReadOnly shows it with its templates, Change also uploads to it, FullControl also shares it. No one gives, changes or takes away a level with more rights than they have there themselves. A share counts from the next request on. */
  readonly changeCatalogAccess: {
    readonly params: { readonly catalog: string }
    readonly body: CloudDocuments['ControlAccessParamsInput']
    readonly answer: CloudDocuments['ControlAccessParams']
  }
  /** Issues a ticket for the screen of a running VM: valid once, for 30 seconds. The response also has the expiry time and the WebSocket address of the screen. */
  readonly acquireTicket: {
    readonly params: { readonly entity: string }
    readonly answer: CloudDocuments['ScreenTicket']
  }
  /** Issues the same ticket in parts, as clients of 5.5 expect it. They connect to the host and port; the response also has the address that includes the ticket. */
  readonly acquireMksTicket: {
    readonly params: { readonly entity: string }
    readonly answer: CloudDocuments['MksTicket']
  }
  /** What a VM used in the last hour, the oldest value first: percent of all its CPUs, MiB of memory, and bytes a second of disk and network. A value is the mean of `step` seconds (default: 15, how often hosts measure; or a multiple of it), and `until` is the time of the last of `points` values (default: an hour). A gap is null, in XML xsi:nil: before the VM was powered on, or while its host did not measure. There are no values while the VM is not running. 503 if its host does not answer. */
  readonly readUsage: {
    readonly params: { readonly entity: string }
    readonly query?: { readonly step?: string; readonly points?: string }
    readonly answer: CloudDocuments['Metrics']
  }
  /** The newest 128 tasks of an organisation, newest first. For all tasks: GET /api/query?type=task. */
  readonly listTasks: {
    readonly params: { readonly org: string }
    readonly answer: CloudDocuments['TasksList']
  }
  /** A task: its operation, progress and result. */
  readonly readTask: {
    readonly params: { readonly task: string }
    readonly answer: CloudDocuments['Task']
  }
  /** Cancels a task. A queued task ends at once; a running task is rolled back, unless it has passed the point of no return. */
  readonly cancelTask: {
    readonly params: { readonly task: string }
    readonly answer: undefined
  }
  /** Records of one type, filtered, sorted and in pages. Without a type: the list of types. Without the right: VMs, vApps, tasks, catalogs and templates that are shared with the caller. */
  readonly runQuery: {
    readonly query?: { readonly type?: string; readonly filter?: string; readonly filterEncoded?: string; readonly fields?: string; readonly page?: string; readonly pageSize?: string; readonly format?: string; readonly sortAsc?: string; readonly sortDesc?: string; readonly after?: string }
    readonly answer: CloudDocuments['QueryResultRecords']
  }
  /** Same as GET /api/query?type=vm. */
  readonly queryVms: {
    readonly query?: { readonly type?: string; readonly filter?: string; readonly filterEncoded?: string; readonly fields?: string; readonly page?: string; readonly pageSize?: string; readonly format?: string; readonly sortAsc?: string; readonly sortDesc?: string; readonly after?: string }
    readonly answer: CloudDocuments['QueryResultRecords']
  }
  /** Same as GET /api/query?type=vApp. */
  readonly queryVapps: {
    readonly query?: { readonly type?: string; readonly filter?: string; readonly filterEncoded?: string; readonly fields?: string; readonly page?: string; readonly pageSize?: string; readonly format?: string; readonly sortAsc?: string; readonly sortDesc?: string; readonly after?: string }
    readonly answer: CloudDocuments['QueryResultRecords']
  }
  /** Same as GET /api/query?type=vAppTemplate. */
  readonly queryTemplates: {
    readonly query?: { readonly type?: string; readonly filter?: string; readonly filterEncoded?: string; readonly fields?: string; readonly page?: string; readonly pageSize?: string; readonly format?: string; readonly sortAsc?: string; readonly sortDesc?: string; readonly after?: string }
    readonly answer: CloudDocuments['QueryResultRecords']
  }
  /** Same as GET /api/query?type=catalog. */
  readonly queryCatalogs: {
    readonly query?: { readonly type?: string; readonly filter?: string; readonly filterEncoded?: string; readonly fields?: string; readonly page?: string; readonly pageSize?: string; readonly format?: string; readonly sortAsc?: string; readonly sortDesc?: string; readonly after?: string }
    readonly answer: CloudDocuments['QueryResultRecords']
  }
  /** Same as GET /api/query?type=organization. */
  readonly queryOrgs: {
    readonly query?: { readonly type?: string; readonly filter?: string; readonly filterEncoded?: string; readonly fields?: string; readonly page?: string; readonly pageSize?: string; readonly format?: string; readonly sortAsc?: string; readonly sortDesc?: string; readonly after?: string }
    readonly answer: CloudDocuments['QueryResultRecords']
  }
  /** Same as GET /api/query?type=adminVM. */
  readonly queryAllVms: {
    readonly query?: { readonly type?: string; readonly filter?: string; readonly filterEncoded?: string; readonly fields?: string; readonly page?: string; readonly pageSize?: string; readonly format?: string; readonly sortAsc?: string; readonly sortDesc?: string; readonly after?: string }
    readonly answer: CloudDocuments['QueryResultRecords']
  }
  /** Same as GET /api/query?type=adminVApp. */
  readonly queryAllVapps: {
    readonly query?: { readonly type?: string; readonly filter?: string; readonly filterEncoded?: string; readonly fields?: string; readonly page?: string; readonly pageSize?: string; readonly format?: string; readonly sortAsc?: string; readonly sortDesc?: string; readonly after?: string }
    readonly answer: CloudDocuments['QueryResultRecords']
  }
  /** Same as GET /api/query?type=host. */
  readonly queryHosts: {
    readonly query?: { readonly type?: string; readonly filter?: string; readonly filterEncoded?: string; readonly fields?: string; readonly page?: string; readonly pageSize?: string; readonly format?: string; readonly sortAsc?: string; readonly sortDesc?: string; readonly after?: string }
    readonly answer: CloudDocuments['QueryResultRecords']
  }
  /** powerOn for every VM of a query. expect is the total that GET /api/query returned; if another number of VMs matches, the response is 409 and nothing is changed. Only the number is compared: to act on certain VMs and no others, filter by id==ID,id==ID. At most 10000 VMs. One task with a child for each VM, in no order: GET /api/query?type=task&filter=parent==ID lists the results. A VM for which it is not possible has a failed child with the reason. */
  readonly powerOnMatching: {
    readonly query?: { readonly type?: string; readonly filter?: string; readonly filterEncoded?: string; readonly expect?: string }
    readonly answer: CloudDocuments['Task']
  }
  /** powerOff for every VM of a query. expect is the total that GET /api/query returned; if another number of VMs matches, the response is 409 and nothing is changed. Only the number is compared: to act on certain VMs and no others, filter by id==ID,id==ID. At most 10000 VMs. One task with a child for each VM, in no order: GET /api/query?type=task&filter=parent==ID lists the results. A VM for which it is not possible has a failed child with the reason. */
  readonly powerOffMatching: {
    readonly query?: { readonly type?: string; readonly filter?: string; readonly filterEncoded?: string; readonly expect?: string }
    readonly answer: CloudDocuments['Task']
  }
  /** suspend for every VM of a query. expect is the total that GET /api/query returned; if another number of VMs matches, the response is 409 and nothing is changed. Only the number is compared: to act on certain VMs and no others, filter by id==ID,id==ID. At most 10000 VMs. One task with a child for each VM, in no order: GET /api/query?type=task&filter=parent==ID lists the results. A VM for which it is not possible has a failed child with the reason. */
  readonly suspendMatching: {
    readonly query?: { readonly type?: string; readonly filter?: string; readonly filterEncoded?: string; readonly expect?: string }
    readonly answer: CloudDocuments['Task']
  }
  /** shutdown for every VM of a query. expect is the total that GET /api/query returned; if another number of VMs matches, the response is 409 and nothing is changed. Only the number is compared: to act on certain VMs and no others, filter by id==ID,id==ID. At most 10000 VMs. One task with a child for each VM, in no order: GET /api/query?type=task&filter=parent==ID lists the results. A VM for which it is not possible has a failed child with the reason. */
  readonly shutdownMatching: {
    readonly query?: { readonly type?: string; readonly filter?: string; readonly filterEncoded?: string; readonly expect?: string }
    readonly answer: CloudDocuments['Task']
  }
  /** reboot for every VM of a query. expect is the total that GET /api/query returned; if another number of VMs matches, the response is 409 and nothing is changed. Only the number is compared: to act on certain VMs and no others, filter by id==ID,id==ID. At most 10000 VMs. One task with a child for each VM, in no order: GET /api/query?type=task&filter=parent==ID lists the results. A VM for which it is not possible has a failed child with the reason. */
  readonly rebootMatching: {
    readonly query?: { readonly type?: string; readonly filter?: string; readonly filterEncoded?: string; readonly expect?: string }
    readonly answer: CloudDocuments['Task']
  }
  /** reset for every VM of a query. expect is the total that GET /api/query returned; if another number of VMs matches, the response is 409 and nothing is changed. Only the number is compared: to act on certain VMs and no others, filter by id==ID,id==ID. At most 10000 VMs. One task with a child for each VM, in no order: GET /api/query?type=task&filter=parent==ID lists the results. A VM for which it is not possible has a failed child with the reason. */
  readonly resetMatching: {
    readonly query?: { readonly type?: string; readonly filter?: string; readonly filterEncoded?: string; readonly expect?: string }
    readonly answer: CloudDocuments['Task']
  }
  /** discardSuspendedState for every VM of a query. expect is the total that GET /api/query returned; if another number of VMs matches, the response is 409 and nothing is changed. Only the number is compared: to act on certain VMs and no others, filter by id==ID,id==ID. At most 10000 VMs. One task with a child for each VM, in no order: GET /api/query?type=task&filter=parent==ID lists the results. A VM for which it is not possible has a failed child with the reason. */
  readonly discardSuspendedStateMatching: {
    readonly query?: { readonly type?: string; readonly filter?: string; readonly filterEncoded?: string; readonly expect?: string }
    readonly answer: CloudDocuments['Task']
  }
  /** removeAllSnapshots for every VM of a query. expect is the total that GET /api/query returned; if another number of VMs matches, the response is 409 and nothing is changed. Only the number is compared: to act on certain VMs and no others, filter by id==ID,id==ID. At most 10000 VMs. One task with a child for each VM, in no order: GET /api/query?type=task&filter=parent==ID lists the results. A VM for which it is not possible has a failed child with the reason. */
  readonly removeAllSnapshotsMatching: {
    readonly query?: { readonly type?: string; readonly filter?: string; readonly filterEncoded?: string; readonly expect?: string }
    readonly answer: CloudDocuments['Task']
  }
  /** delete for every VM of a query. expect is the total that GET /api/query returned; if another number of VMs matches, the response is 409 and nothing is changed. Only the number is compared: to act on certain VMs and no others, filter by id==ID,id==ID. At most 10000 VMs. One task with a child for each VM, in no order: GET /api/query?type=task&filter=parent==ID lists the results. A VM for which it is not possible has a failed child with the reason. */
  readonly deleteMatching: {
    readonly query?: { readonly type?: string; readonly filter?: string; readonly filterEncoded?: string; readonly expect?: string }
    readonly answer: CloudDocuments['Task']
  }
  /** Entry point for administrators: the organisations, and the rights of each role. */
  readonly readAdmin: {
    readonly answer: CloudDocuments['Cloud']
  }
  /** Creates an organisation, without users and vdcs. */
  readonly addOrg: {
    readonly body: CloudDocuments['AdminOrgInput']
    readonly answer: CloudDocuments['AdminOrg']
  }
  /** An organisation as its administrators see it: users, vdcs, whether it is enabled. */
  readonly readAdminOrg: {
    readonly params: { readonly org: string }
    readonly answer: CloudDocuments['AdminOrg']
  }
  /** Changes name, quota or leases of an organisation, enables or disables it, requires a second factor of its users with a password or does not. What the body does not contain stays; a limit missing in Quota means unlimited, a time missing in Leases means 0: no limit. */
  readonly changeOrg: {
    readonly params: { readonly org: string }
    readonly body: CloudDocuments['AdminOrgInput']
    readonly answer: CloudDocuments['AdminOrg']
  }
  /** Enables an organisation: its users have access again. */
  readonly enableOrg: {
    readonly params: { readonly org: string }
    readonly answer: undefined
  }
  /** Disables an organisation: its users have no access from then on; its VMs stay as they are. */
  readonly disableOrg: {
    readonly params: { readonly org: string }
    readonly answer: undefined
  }
  /** Creates a vdc in the organisation. */
  readonly addVdc: {
    readonly params: { readonly org: string }
    readonly body: CloudDocuments['AdminVdcInput']
    readonly answer: CloudDocuments['AdminVdc']
  }
  /** A vdc as administrators see it. */
  readonly readAdminVdc: {
    readonly params: { readonly vdc: string }
    readonly answer: CloudDocuments['AdminVdc']
  }
  /** Renames a vdc, enables or disables it. Nothing can be created in a disabled vdc. */
  readonly changeVdc: {
    readonly params: { readonly vdc: string }
    readonly body: CloudDocuments['AdminVdcInput']
    readonly answer: CloudDocuments['AdminVdc']
  }
  /** Creates a user of the organisation, with a role and a password. */
  readonly addUser: {
    readonly params: { readonly org: string }
    readonly body: CloudDocuments['UserInput']
    readonly answer: CloudDocuments['User']
  }
  /** A user: name, role, whether enabled. Never the password. */
  readonly readUser: {
    readonly params: { readonly account: string }
    readonly answer: CloudDocuments['User']
  }
  /** Changes the role or password of a user, disables or enables the user. It takes effect at once: a new password, or disabling, ends the sessions, API tokens, workflow runs, schedules and screens of that user; a new password ends passkeys too. */
  readonly changeUser: {
    readonly params: { readonly account: string }
    readonly body: CloudDocuments['UserInput']
    readonly answer: CloudDocuments['User']
  }
  /** Removes all second factors and recovery codes of a user who has lost them: the password alone logs in again. Administrators remove their own with a code instead. */
  readonly removeSecondFactors: {
    readonly params: { readonly account: string }
    readonly answer: undefined
  }
  /** Lists the API tokens of a user: name, creation time, last use. Never the secret. */
  readonly listUserTokens: {
    readonly params: { readonly account: string }
    readonly answer: CloudDocuments['AccessTokens']
  }
  /** An API token of a user: when it was created and last used. */
  readonly readUserToken: {
    readonly params: { readonly userToken: string }
    readonly answer: CloudDocuments['AccessToken']
  }
  /** Revokes an API token of a user, at once. */
  readonly deleteUserToken: {
    readonly params: { readonly userToken: string }
    readonly answer: undefined
  }
  /** What an organisation used between `from` (inclusive) and `to` (exclusive), by `hour`, `day` or `month` of UTC; default: the days of this month. Times are days or whole hours, such as 2026-11-01 or 2026-11-01T12:00:00Z. Values are units times milliseconds, so that no sum is rounded: an hour of a VM with 2 CPUs is 7200000 cpuMilliseconds. What is allotted counts, as in quotas; `running…` is the part of VMs that ran. A period that is not complete is counted up to now. At most 1000 periods; hours are kept for three years. */
  readonly readOrgUsage: {
    readonly params: { readonly org: string }
    readonly query?: { readonly from?: string; readonly to?: string; readonly by?: string }
    readonly answer: CloudDocuments['OrgUsage']
  }
  /** Lists the hosts: the machines that run VMs. */
  readonly listHosts: {
    readonly answer: CloudDocuments['Hosts']
  }
  /** A host: whether it is reachable, its capacity and its usage. */
  readonly readHost: {
    readonly params: { readonly host: string }
    readonly answer: CloudDocuments['Host']
  }
  /** Enables a host: new VMs may be placed on it. */
  readonly enableHost: {
    readonly params: { readonly host: string }
    readonly answer: undefined
  }
  /** Disables a host: no new VMs are placed on it; its VMs stay. */
  readonly disableHost: {
    readonly params: { readonly host: string }
    readonly answer: undefined
  }
  /** Lists the cells: whether each is alive and fit, how many hosts it follows, and its health conditions, as of its last heartbeat. A cell that stopped properly is not listed. */
  readonly listCells: {
    readonly answer: CloudDocuments['Cells']
  }
  /** Lists the open screens of all organisations, oldest first: the user, the VM, the address of the client, and the console server. */
  readonly listConsoles: {
    readonly answer: CloudDocuments['Consoles']
  }
  /** Closes an open screen, within 2 s. The user keeps the right to open it again: disable the user, or change the role, to prevent that. */
  readonly closeConsole: {
    readonly params: { readonly console: string }
    readonly answer: undefined
  }
}

/** The method and path of each operation. */
export const cloudOperations = {
  listVersions: { method: 'GET', path: '/api/versions' },
  createSession: { method: 'POST', path: '/api/sessions' },
  readSession: { method: 'GET', path: '/api/session' },
  deleteSession: { method: 'DELETE', path: '/api/session' },
  listAccessTokens: { method: 'GET', path: '/api/session/tokens' },
  addAccessToken: { method: 'POST', path: '/api/session/tokens' },
  readAccessToken: { method: 'GET', path: '/api/session/tokens/{accessToken}' },
  deleteAccessToken: { method: 'DELETE', path: '/api/session/tokens/{accessToken}' },
  listSecondFactors: { method: 'GET', path: '/api/session/secondFactors' },
  addSecondFactor: { method: 'POST', path: '/api/session/secondFactors' },
  readSecondFactor: { method: 'GET', path: '/api/session/secondFactors/{secondFactor}' },
  deleteSecondFactor: { method: 'DELETE', path: '/api/session/secondFactors/{secondFactor}' },
  confirmSecondFactor: { method: 'POST', path: '/api/session/secondFactors/{secondFactor}/action/confirm' },
  replaceRecoveryCodes: { method: 'POST', path: '/api/session/secondFactors/action/replaceRecoveryCodes' },
  listOrgs: { method: 'GET', path: '/api/org' },
  readOrg: { method: 'GET', path: '/api/org/{org}' },
  readVdc: { method: 'GET', path: '/api/vdc/{vdc}' },
  readTemplate: { method: 'GET', path: '/api/vAppTemplate/{template}' },
  instantiate: { method: 'POST', path: '/api/vdc/{vdc}/action/instantiateVAppTemplate' },
  addNetwork: { method: 'POST', path: '/api/admin/vdc/{vdc}/networks' },
  readNetwork: { method: 'GET', path: '/api/network/{network}' },
  readAdminNetwork: { method: 'GET', path: '/api/admin/network/{network}' },
  changeNetwork: { method: 'PUT', path: '/api/admin/network/{network}' },
  deleteNetwork: { method: 'DELETE', path: '/api/admin/network/{network}' },
  listAllocatedAddresses: { method: 'GET', path: '/api/network/{network}/allocatedAddresses' },
  listEdgeGateways: { method: 'GET', path: '/api/admin/vdc/{vdc}/edgeGateways' },
  addEdgeGateway: { method: 'POST', path: '/api/admin/vdc/{vdc}/edgeGateways' },
  readEdgeGateway: { method: 'GET', path: '/api/admin/edgeGateway/{edgeGateway}' },
  changeEdgeGateway: { method: 'PUT', path: '/api/admin/edgeGateway/{edgeGateway}' },
  deleteEdgeGateway: { method: 'DELETE', path: '/api/admin/edgeGateway/{edgeGateway}' },
  configureServices: { method: 'POST', path: '/api/admin/edgeGateway/{edgeGateway}/action/configureServices' },
  listExternalAddresses: { method: 'GET', path: '/api/admin/edgeGateway/{edgeGateway}/externalAddresses' },
  takeExternalAddress: { method: 'POST', path: '/api/admin/edgeGateway/{edgeGateway}/externalAddresses' },
  releaseExternalAddress: { method: 'DELETE', path: '/api/admin/edgeGateway/{edgeGateway}/externalAddresses/{address}' },
  listExternalNetworks: { method: 'GET', path: '/api/admin/extension/externalNetworks' },
  addExternalNetwork: { method: 'POST', path: '/api/admin/extension/externalNetworks' },
  readExternalNetwork: { method: 'GET', path: '/api/admin/extension/externalnet/{externalNetwork}' },
  changeExternalNetwork: { method: 'PUT', path: '/api/admin/extension/externalnet/{externalNetwork}' },
  deleteExternalNetwork: { method: 'DELETE', path: '/api/admin/extension/externalnet/{externalNetwork}' },
  listSecurityGroups: { method: 'GET', path: '/api/admin/org/{org}/securityGroups' },
  addSecurityGroup: { method: 'POST', path: '/api/admin/org/{org}/securityGroups' },
  readSecurityGroup: { method: 'GET', path: '/api/admin/securityGroup/{securityGroup}' },
  changeSecurityGroup: { method: 'PUT', path: '/api/admin/securityGroup/{securityGroup}' },
  deleteSecurityGroup: { method: 'DELETE', path: '/api/admin/securityGroup/{securityGroup}' },
  listRoles: { method: 'GET', path: '/api/admin/org/{org}/roles' },
  addRole: { method: 'POST', path: '/api/admin/org/{org}/roles' },
  readRole: { method: 'GET', path: '/api/admin/role/{role}' },
  changeRole: { method: 'PUT', path: '/api/admin/role/{role}' },
  deleteRole: { method: 'DELETE', path: '/api/admin/role/{role}' },
  listIdentityProviders: { method: 'GET', path: '/api/admin/org/{org}/identityProviders' },
  addIdentityProvider: { method: 'POST', path: '/api/admin/org/{org}/identityProviders' },
  readIdentityProvider: { method: 'GET', path: '/api/admin/identityProvider/{provider}' },
  changeIdentityProvider: { method: 'PUT', path: '/api/admin/identityProvider/{provider}' },
  deleteIdentityProvider: { method: 'DELETE', path: '/api/admin/identityProvider/{provider}' },
  testIdentityProvider: { method: 'POST', path: '/api/admin/identityProvider/{provider}/action/test' },
  writeGroupRoles: { method: 'PUT', path: '/api/admin/identityProvider/{provider}/groups' },
  listWebhooks: { method: 'GET', path: '/api/admin/org/{org}/webhooks' },
  addWebhook: { method: 'POST', path: '/api/admin/org/{org}/webhooks' },
  readWebhook: { method: 'GET', path: '/api/admin/webhook/{webhook}' },
  changeWebhook: { method: 'PUT', path: '/api/admin/webhook/{webhook}' },
  deleteWebhook: { method: 'DELETE', path: '/api/admin/webhook/{webhook}' },
  testWebhook: { method: 'POST', path: '/api/admin/webhook/{webhook}/action/test' },
  resendEvents: { method: 'POST', path: '/api/admin/webhook/{webhook}/action/resend' },
  replaceSecret: { method: 'POST', path: '/api/admin/webhook/{webhook}/action/replaceSecret' },
  readCatalog: { method: 'GET', path: '/api/catalog/{catalog}' },
  readCatalogItem: { method: 'GET', path: '/api/catalogItem/{catalogItem}' },
  readResolver: { method: 'GET', path: '/api/entity' },
  resolve: { method: 'GET', path: '/api/entity/{urn}' },
  startUpload: { method: 'POST', path: '/api/catalog/{catalog}/action/upload' },
  readUpload: { method: 'GET', path: '/api/transfer/{upload}' },
  deleteUpload: { method: 'DELETE', path: '/api/transfer/{upload}' },
  readEntity: { method: 'GET', path: '/api/vApp/{entity}' },
  deleteEntity: { method: 'DELETE', path: '/api/vApp/{entity}' },
  rename: { method: 'PUT', path: '/api/vApp/{entity}' },
  readSnapshotSection: { method: 'GET', path: '/api/vApp/{entity}/snapshotSection' },
  powerOn: { method: 'POST', path: '/api/vApp/{entity}/power/action/powerOn' },
  powerOff: { method: 'POST', path: '/api/vApp/{entity}/power/action/powerOff' },
  suspend: { method: 'POST', path: '/api/vApp/{entity}/power/action/suspend' },
  shutdown: { method: 'POST', path: '/api/vApp/{entity}/power/action/shutdown' },
  reboot: { method: 'POST', path: '/api/vApp/{entity}/power/action/reboot' },
  reset: { method: 'POST', path: '/api/vApp/{entity}/power/action/reset' },
  discardSuspendedState: { method: 'POST', path: '/api/vApp/{entity}/action/discardSuspendedState' },
  takeSnapshot: { method: 'POST', path: '/api/vApp/{entity}/action/createSnapshot' },
  revertToCurrentSnapshot: { method: 'POST', path: '/api/vApp/{entity}/action/revertToCurrentSnapshot' },
  removeAllSnapshots: { method: 'POST', path: '/api/vApp/{entity}/action/removeAllSnapshots' },
  enableNestedHypervisor: { method: 'POST', path: '/api/vApp/{entity}/action/enableNestedHypervisor' },
  disableNestedHypervisor: { method: 'POST', path: '/api/vApp/{entity}/action/disableNestedHypervisor' },
  reconfigureVm: { method: 'POST', path: '/api/vApp/{entity}/action/reconfigureVm' },
  deploy: { method: 'POST', path: '/api/vApp/{entity}/action/deploy' },
  undeploy: { method: 'POST', path: '/api/vApp/{entity}/action/undeploy' },
  compose: { method: 'POST', path: '/api/vdc/{vdc}/action/composeVApp' },
  recompose: { method: 'POST', path: '/api/vApp/{entity}/action/recomposeVApp' },
  clone: { method: 'POST', path: '/api/vdc/{vdc}/action/cloneVApp' },
  readLease: { method: 'GET', path: '/api/vApp/{entity}/leaseSettingsSection' },
  changeLease: { method: 'PUT', path: '/api/vApp/{entity}/leaseSettingsSection' },
  readProcessors: { method: 'GET', path: '/api/vApp/{entity}/virtualHardwareSection/cpu' },
  changeProcessors: { method: 'PUT', path: '/api/vApp/{entity}/virtualHardwareSection/cpu' },
  readMemory: { method: 'GET', path: '/api/vApp/{entity}/virtualHardwareSection/memory' },
  changeMemory: { method: 'PUT', path: '/api/vApp/{entity}/virtualHardwareSection/memory' },
  readConnections: { method: 'GET', path: '/api/vApp/{entity}/networkConnectionSection' },
  changeConnections: { method: 'PUT', path: '/api/vApp/{entity}/networkConnectionSection' },
  readMetadata: { method: 'GET', path: '/api/vApp/{entity}/metadata' },
  mergeMetadata: { method: 'POST', path: '/api/vApp/{entity}/metadata' },
  readMetadataValue: { method: 'GET', path: '/api/vApp/{entity}/metadata/{key}' },
  writeMetadataValue: { method: 'PUT', path: '/api/vApp/{entity}/metadata/{key}' },
  deleteMetadataValue: { method: 'DELETE', path: '/api/vApp/{entity}/metadata/{key}' },
  readVappAccess: { method: 'GET', path: '/api/vApp/{entity}/controlAccess' },
  changeVappAccess: { method: 'POST', path: '/api/vApp/{entity}/action/controlAccess' },
  readCatalogAccess: { method: 'GET', path: '/api/catalog/{catalog}/controlAccess' },
  changeCatalogAccess: { method: 'POST', path: '/api/catalog/{catalog}/action/controlAccess' },
  acquireTicket: { method: 'POST', path: '/api/vApp/{entity}/screen/action/acquireTicket' },
  acquireMksTicket: { method: 'POST', path: '/api/vApp/{entity}/screen/action/acquireMksTicket' },
  readUsage: { method: 'GET', path: '/api/vApp/{entity}/metrics' },
  listTasks: { method: 'GET', path: '/api/tasksList/{org}' },
  readTask: { method: 'GET', path: '/api/task/{task}' },
  cancelTask: { method: 'POST', path: '/api/task/{task}/action/cancel' },
  runQuery: { method: 'GET', path: '/api/query' },
  queryVms: { method: 'GET', path: '/api/vms/query' },
  queryVapps: { method: 'GET', path: '/api/vApps/query' },
  queryTemplates: { method: 'GET', path: '/api/vAppTemplates/query' },
  queryCatalogs: { method: 'GET', path: '/api/catalogs/query' },
  queryOrgs: { method: 'GET', path: '/api/admin/orgs/query' },
  queryAllVms: { method: 'GET', path: '/api/admin/extension/vms/query' },
  queryAllVapps: { method: 'GET', path: '/api/admin/extension/vapps/query' },
  queryHosts: { method: 'GET', path: '/api/admin/extension/hosts/query' },
  powerOnMatching: { method: 'POST', path: '/api/query/action/powerOn' },
  powerOffMatching: { method: 'POST', path: '/api/query/action/powerOff' },
  suspendMatching: { method: 'POST', path: '/api/query/action/suspend' },
  shutdownMatching: { method: 'POST', path: '/api/query/action/shutdown' },
  rebootMatching: { method: 'POST', path: '/api/query/action/reboot' },
  resetMatching: { method: 'POST', path: '/api/query/action/reset' },
  discardSuspendedStateMatching: { method: 'POST', path: '/api/query/action/discardSuspendedState' },
  removeAllSnapshotsMatching: { method: 'POST', path: '/api/query/action/removeAllSnapshots' },
  deleteMatching: { method: 'POST', path: '/api/query/action/delete' },
  readAdmin: { method: 'GET', path: '/api/admin' },
  addOrg: { method: 'POST', path: '/api/admin/orgs' },
  readAdminOrg: { method: 'GET', path: '/api/admin/org/{org}' },
  changeOrg: { method: 'PUT', path: '/api/admin/org/{org}' },
  enableOrg: { method: 'POST', path: '/api/admin/org/{org}/action/enable' },
  disableOrg: { method: 'POST', path: '/api/admin/org/{org}/action/disable' },
  addVdc: { method: 'POST', path: '/api/admin/org/{org}/vdcs' },
  readAdminVdc: { method: 'GET', path: '/api/admin/vdc/{vdc}' },
  changeVdc: { method: 'PUT', path: '/api/admin/vdc/{vdc}' },
  addUser: { method: 'POST', path: '/api/admin/org/{org}/users' },
  readUser: { method: 'GET', path: '/api/admin/user/{account}' },
  changeUser: { method: 'PUT', path: '/api/admin/user/{account}' },
  removeSecondFactors: { method: 'POST', path: '/api/admin/user/{account}/action/removeSecondFactors' },
  listUserTokens: { method: 'GET', path: '/api/admin/user/{account}/tokens' },
  readUserToken: { method: 'GET', path: '/api/admin/token/{userToken}' },
  deleteUserToken: { method: 'DELETE', path: '/api/admin/token/{userToken}' },
  readOrgUsage: { method: 'GET', path: '/api/admin/org/{org}/usage' },
  listHosts: { method: 'GET', path: '/api/admin/hosts' },
  readHost: { method: 'GET', path: '/api/admin/host/{host}' },
  enableHost: { method: 'POST', path: '/api/admin/host/{host}/action/enable' },
  disableHost: { method: 'POST', path: '/api/admin/host/{host}/action/disable' },
  listCells: { method: 'GET', path: '/api/admin/cells' },
  listConsoles: { method: 'GET', path: '/api/admin/consoles' },
  closeConsole: { method: 'DELETE', path: '/api/admin/console/{console}' },
} as const satisfies Readonly<Record<keyof CloudOperations, object>>
