import { dirname, join } from 'node:path'

import type { VmId } from '@skerry/vm'

import type { Owner } from './record.ts'

/** Where things lie on a host. What is under `data` outlives a power cut, what is under `run` does not. */
export interface Paths {
  readonly data: string
  readonly run: string
  /** Where libvirt keeps the pid files of its QEMU processes. */
  readonly qemuPids: string
  /** Where libvirt keeps the memory of suspended guests. */
  readonly qemuSaves: string
}

export const defaultPaths: Paths = {
  data: '/var/lib/skerry',
  run: '/run/skerry',
  qemuPids: '/run/libvirt/qemu',
  qemuSaves: '/var/lib/libvirt/qemu/save',
}

type Whose = { readonly id: VmId; readonly owner: Owner }
type Life = Whose & { readonly incarnation: string }

/** All that is there because this machine belongs to a cloud. */
export const cloudDirectory = ({ data }: Paths): string => join(data, 'cloud')

/** Two owners' ids may be equal, so each owner's VMs lie apart. */
export const recordsDirectory = (paths: Paths, owner: Owner): string =>
  join(owner === 'cloud' ? cloudDirectory(paths) : paths.data, 'vms')
export const recordFile = (paths: Paths, { id, owner }: Whose): string =>
  join(recordsDirectory(paths, owner), `${id}.json`)
/** Files end in .json and directories in .vm, so that no id's directory is another id's record. */
export const vmDirectory = (paths: Paths, { id, owner }: Whose): string =>
  join(recordsDirectory(paths, owner), `${id}.vm`)

/** Everything that belongs to one life of a VM: its layers, its seed, its serial log. */
export const lifeDirectory = (paths: Paths, life: Life): string =>
  join(vmDirectory(paths, life), life.incarnation)
export const seedFile = (paths: Paths, life: Life): string =>
  join(lifeDirectory(paths, life), 'seed.img')
export const serialFile = (paths: Paths, life: Life): string =>
  join(lifeDirectory(paths, life), 'serial.log')
/** There while the disk may have been written to since it was last checked. */
export const openedFile = (paths: Paths, life: Life): string =>
  join(lifeDirectory(paths, life), 'opened')

/** What the DHCP server of a network is told: a file for each VM that has an address of its own. */
export const fixedAddressesDirectory = ({ data }: Paths, network?: string): string =>
  network === undefined ? join(data, 'dhcp') : join(data, 'networks', network)

/** libvirt writes down there which process the DHCP server of a network is. */
export const dhcpPidFile = ({ qemuPids }: Paths, network: string): string =>
  join(dirname(qemuPids), 'network', `${network}.pid`)

/** What VMs of this host were ordered, and what became of it. It outlives the VMs. */
export const ordersDirectory = (paths: Paths): string => join(cloudDirectory(paths), 'orders')
/** Images that came from the cloud, each named after the SHA-256 of its bytes. */
export const imagesDirectory = (paths: Paths): string => join(cloudDirectory(paths), 'images')

export const templatesDirectory = ({ data }: Paths): string => join(data, 'templates')

/** The directory that a VM's virtiofsd serves; each mapping is a mount below it. */
export const sharesDirectory = ({ run }: Paths, id: VmId): string => join(run, 'shares', id)
/** The same directory where we may write to it: it holds the empty ones that mappings are mounted on. */
export const pointsDirectory = ({ run }: Paths, id: VmId): string => join(run, 'points', id)
export const sharesSocket = ({ run }: Paths, id: VmId): string => join(run, 'sockets', `${id}.sock`)
/** Where a mount is made ready before anybody sees it. */
export const asideDirectory = ({ run }: Paths): string => join(run, 'aside')
