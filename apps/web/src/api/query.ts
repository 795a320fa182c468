// The query service: pages of records with an exact total. docs/design/query.md describes it.
import { request } from './client.ts'

export interface VmQueryRecord {
  readonly name: string
  readonly status: string
  readonly isBusy: boolean
  readonly containerName?: string
  readonly container?: string
  readonly networkName?: string
  readonly ipAddress?: string
  readonly numberOfCpus: number
  readonly memoryMB: number
  readonly diskMB: number
  readonly dateCreated?: string
  readonly orgName?: string
  readonly hostName?: string
  readonly href: string
}

export interface VAppRecord {
  readonly name: string
  readonly status: string
  readonly vdcName?: string
  readonly numberOfVMs: number
  readonly isBusy: boolean
  readonly creationDate: string
  readonly ownerName: string
  readonly isExpired?: boolean
  readonly href: string
}

export interface TaskRecord {
  readonly name: string
  readonly status: string
  readonly objectName: string
  readonly objectType?: string
  readonly object?: string
  readonly ownerName: string
  readonly progress?: number
  readonly startDate: string
  readonly endDate?: string
  readonly waitMessage?: string
  readonly lastFailure?: string
  readonly message?: string
  readonly href: string
}

export interface EventRecord {
  readonly eventType: string
  readonly timeStamp: string
  readonly eventStatus: number
  readonly userName?: string
  readonly userAddress?: string
  readonly orgName?: string
  readonly entity?: string
  readonly entityType?: string
  readonly entityName?: string
}

export interface HostQueryRecord {
  readonly name: string
  readonly state: string
  readonly isEnabled: boolean
  readonly isOpen?: boolean
  readonly numOfCpusLogical: number
  readonly cpusUsed?: number
  readonly memTotal: number
  readonly memUsed: number
  readonly storageTotal: number
  readonly storageUsed: number
  readonly numberOfVMs: number
  readonly version?: string
  readonly address?: string
  readonly lastSeen?: string
  readonly quarantine?: string
  readonly cellName?: string
  readonly href: string
}

export interface OrgRecord {
  readonly name: string
  readonly displayName: string
  readonly isEnabled: boolean
  readonly numberOfVdcs: number
  readonly numberOfCatalogs: number
  readonly numberOfVApps: number
  readonly numberOfVMs: number
  readonly numberOfRunningVMs: number
  readonly href: string
}

export interface TemplateRecord {
  readonly name: string
  readonly numberOfCpus: number
  readonly memoryMB: number
  readonly diskMB: number
  readonly href: string
}

export interface NamedRecord {
  readonly name: string
  readonly href: string
}

/** A network of the organisation. */
export interface NetworkRecord {
  readonly name: string
  readonly vdcName?: string
  readonly defaultGateway?: string
  readonly netmask?: string
  /** 0: direct, 1: routed, 2: isolated. */
  readonly linkType: number
  /** The name of its edge gateway; of a direct network that of its external network. */
  readonly connectedTo?: string
  readonly isBusy: boolean
  readonly isShared: boolean
  readonly usedIpCount: number
  readonly totalIpCount: number
  readonly href: string
}

export interface EdgeGatewayQueryRecord {
  readonly name: string
  readonly vdcName?: string
  readonly externalNetworkName?: string
  readonly ipAddress?: string
  readonly numberOfOrgNetworks: number
  readonly numberOfExternalAddresses: number
  readonly isBusy: boolean
  readonly href: string
}

export interface ExternalNetworkQueryRecord {
  readonly name: string
  /** outbound: made by the system, behind the addresses of the hosts. */
  readonly kind: 'outbound' | 'provider'
  readonly uplink?: string
  readonly vlan?: number
  readonly gateway?: string
  readonly netmask?: string
  readonly isDefault: boolean
  readonly numberOfEdgeGateways: number
  readonly usedIpCount: number
  readonly totalIpCount: number
  readonly href: string
}

export interface SecurityGroupQueryRecord {
  readonly name: string
  /** Its labels, such as role=web, stage=live; missing: none. */
  readonly selector?: string
  readonly isInboundLimited: boolean
  readonly isOutboundLimited: boolean
  readonly numberOfRules: number
  readonly numberOfVMs: number
  readonly href: string
}

/** Type of `GET /api/query?type=…` → its record. */
export interface RecordsByType {
  readonly vm: VmQueryRecord
  readonly adminVM: VmQueryRecord
  readonly vApp: VAppRecord
  readonly task: TaskRecord
  readonly event: EventRecord
  readonly host: HostQueryRecord
  readonly organization: OrgRecord
  readonly vAppTemplate: TemplateRecord
  readonly orgVdc: NamedRecord
  readonly catalog: NamedRecord
  readonly orgVdcNetwork: NetworkRecord
  readonly edgeGateway: EdgeGatewayQueryRecord
  readonly externalNetwork: ExternalNetworkQueryRecord
  readonly securityGroup: SecurityGroupQueryRecord
}
export type QueryType = keyof RecordsByType

export interface QueryOptions {
  /** In the language of the query service, such as `status==POWERED_ON;name==web*`. */
  readonly filter?: string
  /** A column, with '-' in front for descending order. */
  readonly sort?: string
  readonly page?: number
  readonly pageSize?: number
  readonly fields?: string
  readonly signal?: AbortSignal | undefined
}

export interface QueryPage<T> {
  readonly total: number
  readonly records: readonly T[]
}

/** Lists that are not called by their type. */
const recordNames: Readonly<Partial<Record<QueryType, string>>> = {
  organization: 'org',
  externalNetwork: 'network',
}

/** The largest page that the query service returns. */
export const PAGE_SIZE = 128

export async function runQuery<Type extends QueryType>(
  type: Type,
  { filter = '', sort = '', page = 1, pageSize = PAGE_SIZE, fields, signal }: QueryOptions = {},
): Promise<QueryPage<RecordsByType[Type]>> {
  const parameters = new URLSearchParams({ type, page: String(page), pageSize: String(pageSize) })
  if (filter !== '') parameters.set('filter', filter)
  if (sort !== '')
    parameters.set(sort.startsWith('-') ? 'sortDesc' : 'sortAsc', sort.replace(/^-/, ''))
  if (fields !== undefined) parameters.set('fields', fields)
  const answer = await request<{ total: number } & Partial<Record<string, unknown>>>(
    `/api/query?${parameters}`,
    { signal },
  )
  // Each type of record has its own list in the document.
  const records = answer[`${recordNames[type] ?? type}Record`]
  return { total: answer.total, records: (records ?? []) as readonly RecordsByType[Type][] }
}

/** How many records match: exact, and as cheap as one record. */
export const countRecords = async (
  type: QueryType,
  filter: string,
  signal: AbortSignal,
): Promise<number> => (await runQuery(type, { filter, pageSize: 1, fields: 'name', signal })).total
