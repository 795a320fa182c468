// The documents of the cloud API as JSON: the parts that the pages read. docs/reference/api/cloud.md describes all of them.

export interface ApiLink {
  readonly rel: string
  readonly href: string
  readonly type?: string
  readonly name?: string
}

/** An action that is not linked, and the reason. */
export interface Unavailable {
  readonly rel: string
  readonly because: string
}

export interface Reference {
  readonly name: string
  readonly href: string
  readonly type?: string
}

/** A network card of a VM. */
export interface ConnectionDocument {
  readonly network: string
  readonly networkConnectionIndex: number
  readonly ipAddress?: string
  /** On a network with IPv6. */
  readonly ipv6Address?: string
  /** The external address that stands for it. */
  readonly externalIpAddress?: string
  readonly isConnected: boolean
  readonly macAddress?: string
  readonly ipAddressAllocationMode: string
}

export interface ConnectionsDocument {
  readonly link?: readonly ApiLink[]
  readonly networkConnection?: readonly ConnectionDocument[]
}

export interface SessionDocument {
  readonly user: string
  readonly org: string
  readonly role?: string
  readonly right?: readonly string[]
  readonly link?: readonly ApiLink[]
}

export interface TaskDocument {
  readonly href: string
  readonly status: string
  readonly operation: string
  readonly startTime: string
  readonly endTime?: string
  readonly owner?: Reference
  readonly user?: { readonly name: string }
  readonly progress?: number
  readonly error?: { readonly message: string; readonly minorErrorCode: string }
}

interface Tasks {
  readonly task?: readonly TaskDocument[]
}

export interface HardwareItem {
  readonly resourceType: number
  readonly virtualQuantity: number
}

export interface SnapshotDocument {
  readonly name: string
  readonly created: string
  readonly poweredOn: boolean
  readonly size?: number
}

export interface VmDocument {
  readonly name: string
  readonly href: string
  readonly status: number
  readonly link?: readonly ApiLink[]
  readonly unavailable?: readonly Unavailable[]
  readonly tasks?: Tasks
  readonly virtualHardwareSection?: { readonly item?: readonly HardwareItem[] }
  readonly networkConnectionSection?: ConnectionsDocument
  readonly guestCustomizationSection?: { readonly computerName?: string }
  readonly snapshotSection?: { readonly snapshot?: SnapshotDocument }
  readonly dateCreated?: string
  readonly lastSeen?: string
}

export interface LeaseSection {
  readonly href: string
  readonly deploymentLeaseInSeconds: number
  readonly storageLeaseInSeconds: number
  readonly deploymentLeaseExpiration?: string
  readonly storageLeaseExpiration?: string
}

export interface VAppDocument {
  readonly name: string
  readonly href: string
  readonly status: number
  readonly link?: readonly ApiLink[]
  readonly unavailable?: readonly Unavailable[]
  readonly tasks?: Tasks
  readonly leaseSettingsSection?: LeaseSection
  readonly dateCreated?: string
  readonly owner?: { readonly user?: { readonly name: string } }
  readonly children?: { readonly vm?: readonly VmDocument[] }
}

export interface MetadataDocument {
  readonly link?: readonly ApiLink[]
  readonly metadataEntry?: readonly {
    readonly key: string
    readonly href?: string
    readonly typedValue?: { readonly value: string }
  }[]
}

export interface TemplateDocument {
  readonly name: string
  readonly href: string
  readonly numberOfCpus: number
  readonly memoryMB: number
  readonly diskMB: number
  readonly digest?: { readonly algorithm: string; readonly value: string }
}

export interface CatalogDocument {
  readonly name: string
  readonly href: string
  readonly link?: readonly ApiLink[]
  readonly unavailable?: readonly Unavailable[]
  readonly catalogItems?: { readonly catalogItem?: readonly Reference[] }
  readonly dateCreated?: string
}

export interface UploadDocument {
  readonly name: string
  readonly href: string
  readonly file: { readonly size: number; readonly bytesTransferred: number }
}

/** A data centre as administrators see it. */
export interface AdminVdcDocument {
  readonly name: string
  readonly href: string
  readonly link?: readonly ApiLink[]
}

export interface VdcDocument {
  readonly name: string
  readonly href: string
  readonly link?: readonly ApiLink[]
  readonly isEnabled: boolean
  /** The networks that its VMs may be on. */
  readonly availableNetworks?: { readonly network?: readonly Reference[] }
}

/** Limits of an organisation, or what of them is used; a limit that is missing is none. */
export interface QuotaDocument {
  readonly vms?: number
  readonly runningVms?: number
  readonly cpus?: number
  readonly memoryMB?: number
  readonly storageMB?: number
  readonly networks?: number
  readonly edgeGateways?: number
  readonly externalAddresses?: number
}

export interface LeasesDocument {
  readonly deploymentDefault: number
  readonly deploymentMax: number
  readonly storageDefault: number
  readonly storageMax: number
}

export interface AdminOrgDocument {
  readonly name: string
  readonly href: string
  readonly fullName?: string
  readonly isEnabled: boolean
  readonly link?: readonly ApiLink[]
  readonly quota?: QuotaDocument
  readonly used?: QuotaDocument
  readonly leases?: LeasesDocument
  /** Whether users with a password need a second factor. */
  readonly secondFactorRequired?: boolean
  readonly users?: { readonly userReference?: readonly Reference[] }
  readonly vdcs?: { readonly vdc?: readonly Reference[] }
}

/** A message of a webhook, and what its receiver answered. */
export interface DeliveryDocument {
  readonly at: string
  readonly taken: boolean
  readonly answer: string
  readonly milliseconds: number
  readonly events: number
  readonly firstEvent: string
}

export interface WebhookDocument {
  readonly name: string
  readonly href: string
  readonly link?: readonly ApiLink[]
  readonly isEnabled: boolean
  readonly url: string
  /** None: all. */
  readonly kind?: readonly string[]
  /** Only in the answer that creates or replaces it. */
  readonly secret?: string
  readonly behind?: number
  readonly disabledBecause?: string
  readonly failingSince?: string
  readonly lastAnswer?: string
  readonly delivery?: readonly DeliveryDocument[]
}

export interface WebhooksDocument {
  readonly link?: readonly ApiLink[]
  readonly webhook?: readonly WebhookDocument[]
}

/** A role that an organisation has of its own. */
export interface OrgRoleDocument {
  readonly name: string
  readonly href: string
  readonly link?: readonly ApiLink[]
  readonly right?: readonly string[]
  /** How many have it. */
  readonly users?: number
  readonly groups?: number
}

export interface OrgRolesDocument {
  readonly link?: readonly ApiLink[]
  readonly orgRole?: readonly OrgRoleDocument[]
}

export interface WebhookTestDocument {
  readonly taken: boolean
  readonly message: string
}

/** Units times milliseconds. */
export interface UsageAmounts {
  readonly vmMilliseconds: number
  readonly runningVmMilliseconds: number
  readonly cpuMilliseconds: number
  readonly runningCpuMilliseconds: number
  readonly memoryMBMilliseconds: number
  readonly runningMemoryMBMilliseconds: number
  readonly storageMBMilliseconds: number
  readonly templateMBMilliseconds: number
  readonly externalAddressMilliseconds: number
}

export interface UsagePeriodDocument extends UsageAmounts {
  readonly from: string
  readonly to: string
  /** Whether it does not change any more. */
  readonly complete: boolean
}

export interface OrgUsageDocument {
  readonly name: string
  readonly link?: readonly ApiLink[]
  readonly period: readonly UsagePeriodDocument[]
}

/** The security groups of an organisation; the pages list them by a query. */
export interface GroupListDocument {
  readonly link?: readonly ApiLink[]
}

export interface UserDocument {
  readonly name: string
  readonly href: string
  readonly isEnabled: boolean
  readonly role?: { readonly name: string }
  readonly link?: readonly ApiLink[]
}

export interface AdminDocument {
  readonly organizations?: { readonly organization?: readonly Reference[] }
  readonly roles?: {
    readonly role?: readonly { readonly name: string; readonly right?: readonly string[] }[]
  }
}

interface HostResource {
  readonly allocated: number
  readonly limit: number
  readonly used: number
}

export interface HostDocument {
  readonly name: string
  readonly href: string
  readonly state: string
  readonly isEnabled: boolean
  readonly isOpen?: boolean
  readonly cpu: HostResource
  readonly memory: HostResource
  readonly storage: HostResource
  readonly link?: readonly ApiLink[]
}

export interface CellCondition {
  readonly name: string
  readonly isOk: boolean
  readonly since: string
  /** What was found and, if not ok, what to do. */
  readonly value: string
}

export interface CellDocument {
  readonly name: string
  readonly isAlive: boolean
  readonly isFit: boolean
  readonly lastSeen: string
  readonly version?: string
  readonly numberOfHosts: number
  readonly condition?: readonly CellCondition[]
}

export interface CellsDocument {
  readonly cell?: readonly CellDocument[]
}

export interface ConsoleDocument {
  readonly id: string
  readonly userName: string
  readonly userAddress?: string
  readonly orgName: string
  readonly containerName: string
  readonly vmName: string
  readonly vm: string
  readonly server: string
  readonly openedAt: string
  readonly bytes: number
  readonly link?: readonly ApiLink[]
}

export interface ConsolesDocument {
  readonly console?: readonly ConsoleDocument[]
}

export interface AccessTokenDocument {
  readonly name: string
  readonly href: string
  readonly dateCreated: string
  readonly lastUsed?: string
  /** Missing: valid until it is revoked. */
  readonly expires?: string
  /** Only in the answer that creates it. */
  readonly token?: string
}

export interface AccessTokensDocument {
  readonly accessToken?: readonly AccessTokenDocument[]
}

export interface ScreenTicketDocument {
  readonly value: string
  readonly wss: string
  readonly expires: string
}

/** null: not known. */
export type MeasuredValues = readonly (number | null)[]

/** What a VM used: percent, MiB, and bytes a second; empty while it is not running. */
export interface MetricsDocument {
  readonly step: number
  readonly until: string
  readonly cpuPercent: MeasuredValues
  readonly memoryMB: MeasuredValues
  readonly diskRead: MeasuredValues
  readonly diskWrite: MeasuredValues
  readonly netIn: MeasuredValues
  readonly netOut: MeasuredValues
}

/** The link of a document with this rel and, if given, a media type that contains `type`. */
export const linkOf = (
  document: { readonly link?: readonly ApiLink[] } | undefined,
  rel: string,
  type = '',
): string | undefined =>
  document?.link?.find((link) => link.rel === rel && (link.type ?? '').includes(type))?.href
