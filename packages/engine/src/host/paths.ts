import { dirname, join } from 'node:path'

import type { VmId } from '@skerry/vm'

import type { Owner } from './owner.ts'

/** The file locations of a host. Files under `data` survive a power cut, files under `run` do not. */
export interface Paths {
  readonly data: string
  readonly run: string
  /** Where libvirt keeps the pid files of its QEMU processes. */
  readonly qemuPids: string
  /** Where libvirt keeps the memory of suspended guests. */
  readonly qemuSaves: string
  /** Where Open vSwitch and OVN keep their sockets. */
  readonly openvswitch: string
  readonly ovn: string
  /** Where the scripts that start Open vSwitch read its settings. */
  readonly switchSettings: string
}

export const defaultPaths: Paths = {
  data: '/var/lib/skerry',
  run: '/run/skerry',
  qemuPids: '/run/libvirt/qemu',
  qemuSaves: '/var/lib/libvirt/qemu/save',
  openvswitch: '/run/openvswitch',
  ovn: '/run/ovn',
  switchSettings: '/etc/openvswitch',
}

type VmKey = { readonly id: VmId; readonly owner: Owner }
type VmIncarnation = VmKey & { readonly incarnation: string }

/** Everything that exists because this machine belongs to a cloud. */
export const cloudDirectory = ({ data }: Paths): string => join(data, 'cloud')

/** Ids of two owners may be equal, so each owner has a directory. */
export const recordsDirectory = (paths: Paths, owner: Owner): string =>
  join(owner === 'cloud' ? cloudDirectory(paths) : paths.data, 'vms')
export const recordFile = (paths: Paths, { id, owner }: VmKey): string =>
  join(recordsDirectory(paths, owner), `${id}.json`)
/** Files end in .json and directories in .vm, so that no id's directory is another id's record. */
export const vmDirectory = (paths: Paths, { id, owner }: VmKey): string =>
  join(recordsDirectory(paths, owner), `${id}.vm`)

/** The files of one incarnation of a VM: its layers, its seed, its serial log. */
export const lifeDirectory = (paths: Paths, life: VmIncarnation): string =>
  join(vmDirectory(paths, life), life.incarnation)
export const seedFile = (paths: Paths, life: VmIncarnation): string =>
  join(lifeDirectory(paths, life), 'seed.img')
export const serialFile = (paths: Paths, life: VmIncarnation): string =>
  join(lifeDirectory(paths, life), 'serial.log')
/** Exists while the disk may have been written to since it was last checked. */
export const openedFile = (paths: Paths, life: VmIncarnation): string =>
  join(lifeDirectory(paths, life), 'opened')

/** The entries for the DHCP server of a network: one file per VM with a fixed address. */
export const fixedAddressesDirectory = ({ data }: Paths, network?: string): string =>
  network === undefined ? join(data, 'dhcp') : join(data, 'networks', network)

/** Where libvirt writes the process id of a network's DHCP server. */
export const dhcpPidFile = ({ qemuPids }: Paths, network: string): string =>
  join(dirname(qemuPids), 'network', `${network}.pid`)

/** The orders that VMs of this host received, and their outcomes. They outlive the VMs. */
export const ordersDirectory = (paths: Paths): string => join(cloudDirectory(paths), 'orders')
/** Images from the cloud, each named after its SHA-256. */
export const imagesDirectory = (paths: Paths): string => join(cloudDirectory(paths), 'images')

/** The zone that this host has joined, and its certificates there. */
export const overlayDirectory = (paths: Paths): string => join(cloudDirectory(paths), 'overlay')

/** Which host has a moving guest: one file per move to or from this host. */
export const movesDirectory = ({ data }: Paths): string => join(data, 'moves')

export const templatesDirectory = ({ data }: Paths): string => join(data, 'templates')

/** The directory that a VM's virtiofsd serves; each mapping is a mount below it. */
export const sharesDirectory = ({ run }: Paths, id: VmId): string => join(run, 'shares', id)
/** The writable view of the same directory: it holds the empty directories that mappings are mounted on. */
export const pointsDirectory = ({ run }: Paths, id: VmId): string => join(run, 'points', id)
export const sharesSocket = ({ run }: Paths, id: VmId): string => join(run, 'sockets', `${id}.sock`)
/** Where a mount is prepared before it becomes visible. */
export const asideDirectory = ({ run }: Paths): string => join(run, 'aside')
