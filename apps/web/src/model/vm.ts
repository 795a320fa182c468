// A VM as the pages show it, from a record of the query service or from its document.
import { idOf } from '../api/client.ts'
import { linkOf, type ConnectionDocument, type VmDocument } from '../api/documents.ts'
import type { VmQueryRecord } from '../api/query.ts'
import { actionsOf, type VmAction } from './actions.ts'
import { powerOfNumber, powerOfWord, type DisplayedPower } from './power.ts'

export interface ListedVm {
  readonly id: string
  readonly name: string
  readonly power: DisplayedPower
  readonly isBusy: boolean
  readonly cpus: number
  readonly memoryMiB: number
  readonly diskMiB: number
  readonly address?: string | undefined
  readonly vapp?: string | undefined
  readonly created?: string | undefined
  readonly org?: string | undefined
  readonly host?: string | undefined
}

export interface VmSnapshot {
  readonly name: string
  readonly created: string
  readonly hasMemory: boolean
  readonly bytes?: number | undefined
}

export interface VmDetails extends ListedVm {
  readonly href: string
  readonly actions: readonly VmAction[]
  readonly snapshot?: VmSnapshot | undefined
  readonly cards?: readonly ConnectionDocument[] | undefined
  /** Where its cards are changed; undefined: they cannot be. */
  readonly cardsHref?: string | undefined
  readonly computerName?: string | undefined
  readonly lastSeen?: string | undefined
  readonly vappHref?: string | undefined
  readonly screenshotHref?: string | undefined
}

export const vmRowOf = (record: VmQueryRecord): ListedVm => ({
  id: idOf(record.href),
  name: record.name,
  power: powerOfWord(record.status),
  isBusy: record.isBusy,
  cpus: record.numberOfCpus,
  memoryMiB: record.memoryMB,
  diskMiB: record.diskMB,
  address: record.ipAddress,
  vapp: record.containerName,
  created: record.dateCreated,
  org: record.orgName,
  host: record.hostName,
})

/** Resource types of CIM, which OVF uses. */
export const resourceType = { processor: 3, memory: 4, disk: 17 } as const

export function vmDetailsOf(document: VmDocument): VmDetails {
  const quantity = (type: number): number =>
    document.virtualHardwareSection?.item?.find((item) => item.resourceType === type)
      ?.virtualQuantity ?? 0
  const cards = document.networkConnectionSection?.networkConnection ?? []
  const snapshot = document.snapshotSection?.snapshot
  const up = document.link?.find(({ rel }) => rel === 'up')
  return {
    id: idOf(document.href),
    href: document.href,
    name: document.name,
    power: powerOfNumber(document.status),
    isBusy: (document.tasks?.task?.length ?? 0) > 0,
    cpus: quantity(resourceType.processor),
    memoryMiB: quantity(resourceType.memory),
    diskMiB: quantity(resourceType.disk),
    address: cards[0]?.ipAddress,
    cards,
    cardsHref: linkOf(document.networkConnectionSection, 'edit'),
    computerName: document.guestCustomizationSection?.computerName,
    created: document.dateCreated,
    lastSeen: document.lastSeen,
    vapp: up?.name,
    vappHref: up?.href,
    screenshotHref: document.link?.find(({ rel }) => rel === 'screen:thumbnail')?.href,
    actions: actionsOf(document),
    snapshot: snapshot && {
      name: snapshot.name,
      created: snapshot.created,
      hasMemory: snapshot.poweredOn,
      bytes: snapshot.size,
    },
  }
}
