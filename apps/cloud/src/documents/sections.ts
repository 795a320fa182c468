import { eui64Address } from '@skerry/vm'
import { element, type Element } from '@skerry/xml'

import type { Caller } from '../auth/caller.ts'
import { may } from '../domain/authorize.ts'
import { link } from '../http/links.ts'
import type { ShownCards, ShownNic } from '../inventory/nics.ts'
import type { VmRow } from '../inventory/vms.ts'
import type { Lease } from '../tenants/leases.ts'

const OVF = {
  'xmlns:ovf': 'http://schemas.dmtf.org/ovf/envelope/1',
  'ovf:required': false,
}
const RASD = {
  'xmlns:rasd':
    'http://schemas.dmtf.org/wbem/wscim/1/cim-schema/2/CIM_ResourceAllocationSettingData',
}

/** CIM resource types. */
const PROCESSORS = 3
const MEMORY = 4
const DISK = 17

interface Item {
  readonly id: number
  readonly kind: number
  readonly name: string
  readonly text: string
  readonly units?: string
  readonly quantity: number
}

const contentOf = ({ id, kind, name, text, units, quantity }: Item) =>
  [
    units !== undefined && element('rasd:AllocationUnits', {}, units),
    element('rasd:Description', {}, text),
    element('rasd:ElementName', {}, name),
    element('rasd:InstanceID', {}, id),
    element('rasd:ResourceType', {}, kind),
    element('rasd:VirtualQuantity', {}, quantity),
  ] as const

const item = (each: Item): Element => element('ovf:Item', {}, ...contentOf(each))

const info = (text: string): Element => element('ovf:Info', {}, text)

type Size = Pick<VmRow, 'cpus' | 'memory_mib' | 'disk_mib'>

const processors = (cpus: number): Item => ({
  id: 1,
  kind: PROCESSORS,
  name: `${cpus} virtual CPU(s)`,
  text: 'Processors',
  units: 'hertz * 10^6',
  quantity: cpus,
})

const memory = (mib: number): Item => ({
  id: 2,
  kind: MEMORY,
  name: `${mib} MB of memory`,
  text: 'Memory',
  units: 'byte * 2^20',
  quantity: mib,
})

/** A hardware item at its own address: clients read it, change its quantity and send it back. */
const itemAt = (of: Item, href: string, { dialect, principal }: Caller): Element => {
  const type = dialect.media('rasdItem')
  const edit = may(principal, 'vm:edit') && link('edit', href, { type })
  return element('Item', { ...RASD, href, type }, ...contentOf(of), edit)
}

export const processorsItem = ({ cpus }: Size, vm: string, caller: Caller): Element =>
  itemAt(processors(cpus), `${vm}/virtualHardwareSection/cpu`, caller)

export const memoryItem = ({ memory_mib }: Size, vm: string, caller: Caller): Element =>
  itemAt(memory(memory_mib), `${vm}/virtualHardwareSection/memory`, caller)

export const hardwareSection = ({ cpus, memory_mib, disk_mib }: Size): Element =>
  element(
    'ovf:VirtualHardwareSection',
    { ...OVF, ...RASD },
    info('Virtual hardware'),
    item(processors(cpus)),
    item(memory(memory_mib)),
    item({
      id: 3,
      kind: DISK,
      name: 'Hard disk 1',
      text: 'Hard disk',
      units: 'byte * 2^20',
      quantity: disk_mib,
    }),
  )

/** The sections of a VM in terms of OVF, as clients of the original API expect them. */
export const sections = (
  { name, computer_name, ...row }: VmRow,
  cards: ShownCards,
  of: string,
  caller: Caller,
): readonly Element[] => [
  hardwareSection(row),
  // The cloud does not know the guest's operating system, but clients expect the section.
  element(
    'ovf:OperatingSystemSection',
    { ...OVF, 'ovf:id': 0 },
    info('Operating system'),
    element('ovf:Description', {}, 'not known'),
  ),
  networkSection(row, cards, of, caller),
  // No section ever contains a password or another secret of the guest.
  element(
    'GuestCustomizationSection',
    OVF,
    info('Guest customisation'),
    element('Enabled', {}, `${computer_name !== null}`),
    element('AdminPasswordEnabled', {}, 'false'),
    element('AdminPasswordAuto', {}, 'false'),
    element('ResetPasswordRequired', {}, 'false'),
    element('ComputerName', {}, computer_name ?? name),
  ),
]

type OfCard = Pick<VmRow, 'network' | 'mac' | 'address' | 'displayed_status'>

/** Clients of the original API read it before they change a card. */
const primary = (index: number): Element => element('PrimaryNetworkConnectionIndex', {}, index)

/** The card of a template, on no network: clients look for it to choose a network for a new VM. */
export const emptyCardSection = (): Element =>
  element(
    'NetworkConnectionSection',
    OVF,
    info('Network connections'),
    primary(0),
    element(
      'NetworkConnection',
      { network: 'none' },
      element('NetworkConnectionIndex', {}, 0),
      element('IsConnected', {}, 'false'),
      element('IpAddressAllocationMode', {}, 'NONE'),
    ),
  )

/** Where the cards are changed. */
function changedAt(of: string, { dialect, principal }: Caller) {
  const type = dialect.media('networkConnectionSection')
  const href = `${of}/networkConnectionSection`
  return { own: { type, href }, edit: may(principal, 'vm:edit') && link('edit', href, { type }) }
}

/** The cards of a VM on networks across hosts. */
const nicsSection = (nics: readonly ShownNic[], of: string, caller: Caller): Element => {
  const { own, edit } = changedAt(of, caller)
  return element(
    'NetworkConnectionSection',
    { ...OVF, ...own },
    info('Network connections'),
    edit,
    ...nics.slice(0, 1).map(({ index }) => primary(index)),
    ...nics.map(connection),
  )
}

const connection = (nic: ShownNic): Element => {
  const { networkName, index, address, ipv6Prefix, externalAddress, connected, mac, mode } = nic
  return element(
    'NetworkConnection',
    { network: networkName },
    element('NetworkConnectionIndex', {}, index),
    address !== null && element('IpAddress', {}, address),
    ipv6Prefix !== null && element('Ipv6Address', {}, eui64Address(ipv6Prefix, mac)),
    externalAddress !== null && element('ExternalIpAddress', {}, externalAddress),
    element('IsConnected', {}, String(connected)),
    element('MACAddress', {}, mac),
    element('IpAddressAllocationMode', {}, mode),
  )
}

/** The cards of a VM, or the only one on its host's own network. */
export const networkSection = (
  row: OfCard,
  { nics, hasNetworks }: ShownCards,
  of: string,
  caller: Caller,
): Element =>
  nics.length > 0
    ? nicsSection(nics, of, caller)
    : cardSection(row, hasNetworks ? changedAt(of, caller) : {})

/** The VM's only network card, once its host has reported it. Its address is fixed from then on, whether it runs or not. */
const cardSection = (
  { network, mac, address, displayed_status: status }: OfCard,
  { own, edit = false }: Partial<ReturnType<typeof changedAt>>,
): Element =>
  element(
    'NetworkConnectionSection',
    { ...OVF, ...own },
    info('Network connections'),
    edit,
    network !== null && primary(0),
    network !== null &&
      element(
        'NetworkConnection',
        { network },
        element('NetworkConnectionIndex', {}, 0),
        address !== null && element('IpAddress', {}, address),
        element('IsConnected', {}, String(status === 'POWERED_ON')),
        mac !== null && element('MACAddress', {}, mac),
        element('IpAddressAllocationMode', {}, 'DHCP'),
      ),
  )

export const leaseSection = (lease: Lease, of: string, { dialect }: Caller): Element =>
  element(
    'LeaseSettingsSection',
    { ...OVF, type: dialect.media('leaseSettingsSection'), href: `${of}/leaseSettingsSection` },
    info('Leases'),
    element('DeploymentLeaseInSeconds', {}, lease.deployment),
    element('StorageLeaseInSeconds', {}, lease.storage),
    lease.deploymentEnds !== null &&
      element('DeploymentLeaseExpiration', {}, lease.deploymentEnds.toISOString()),
    lease.storageEnds !== null &&
      element('StorageLeaseExpiration', {}, lease.storageEnds.toISOString()),
  )

const MIB = 1024 ** 2

/** The snapshot of a VM, or the newest among the VMs of a vApp. */
export function snapshotSection(vms: readonly VmRow[], of: string, { dialect }: Caller): Element {
  const [vm] = vms
    .filter(({ snapshot_at }) => snapshot_at !== null)
    .toSorted((a, b) => Number(b.snapshot_at) - Number(a.snapshot_at))
  return element(
    'SnapshotSection',
    { ...OVF, type: dialect.media('snapshotSection'), href: `${of}/snapshotSection` },
    info('Snapshot'),
    vm !== undefined &&
      element('Snapshot', {
        name: vm.snapshot_name ?? undefined,
        created: vm.snapshot_at?.toISOString(),
        poweredOn: vm.snapshot_on,
        size: vm.snapshot_mib * MIB,
      }),
  )
}
