import { Fault } from '@skerry/fault'
import * as libvirt from '@skerry/libvirt'
import { cloneWays, type PowerState, type Vm } from '@skerry/vm'
import { element, renderElement } from '@skerry/xml'

import {
  addLayer,
  allocatedBytes,
  copyLayers,
  growDisk,
  LAYERS_MAX,
  linkLayers,
  readLayers,
  virtualBytes,
  type Layers,
} from '../disk/disk.ts'
import { mergeLayers } from '../disk/merge-layers.ts'
import { redefine } from '../disk/redefine.ts'
import { settleLayers } from '../disk/settle-layers.ts'
import { readFacts, type FoundVm } from '../domain/find-domain.ts'
import { readPowerOf } from '../domain/read-power.ts'
import type { Host } from '../host/host.ts'
import { requireBridge } from '../network/bridge.ts'
import { hasSnapshots } from '../recover/find-snapshot.ts'
import { findSettled } from '../recover/pending-change.ts'
import { make, whyNotNewVm, type NewVm } from './create.ts'

export type NewClone = Omit<NewVm, 'template'> & { readonly parent: string }

const FREEZE_BYTES = 4 * 1024 * 1024

/**
 * Creates a VM whose disk starts as a copy of the parent's. The parent may run: its current layer
 * becomes a read-only base for both, and each then writes to its own layer.
 */
export function cloneVm(host: Host, requested: NewClone): Promise<Vm> {
  const why = whyNotNewVm(requested)
  if (why !== undefined) return Promise.reject(new Fault('invalid', why))
  return host.locks.runAll([requested.id, requested.parent], () =>
    make(host, { ...networkOfParent(host, requested), ...requested }, async (begin) => {
      const parent = await findSettled(host, requested.parent, requested.owner)
      const { power } = await readPowerOf(host, parent.dom)
      await settleLayers(host, parent, power)
      const { disk, cpus, memoryMiB, nested, ...was } = await readFacts(host, parent.dom)
      const bridge = requested.bridge === undefined ? was.bridge : (requested.bridge ?? undefined)
      await requireBridge(host, bridge)
      const layers = await readLayers(disk)
      const bytes = await wantedBytes(layers, requested)
      const way = await wayOf(host, parent, power, layers)
      const room = way === 'freeze' ? FREEZE_BYTES : await allocatedBytes(layers)
      using _ = await host.room.hold(host.paths.data, room, `cloning VM ${requested.parent}`)
      const base = way === 'merge' ? await mergeLayers(host, parent, power) : layers
      const directory = await begin()
      return {
        layers:
          way === 'copy'
            ? await copyDisk(base, directory, bytes)
            : await addLayer(
                await linkLayers(await freezeActiveLayer(host, parent, power, base), directory),
                bytes,
              ),
        cpus: requested.cpus ?? cpus,
        memoryMiB: requested.memoryMiB ?? memoryMiB,
        nested,
        bridge,
      }
    }),
  )
}

function networkOfParent({ records }: Host, { parent, owner }: NewClone): Pick<NewVm, 'network'> {
  // Cards on networks across hosts are each VM's own.
  const network = records.get(parent, owner)?.network
  return network === undefined ? {} : { network }
}

async function copyDisk(layers: Layers, directory: string, bytes?: number): Promise<Layers> {
  const copy = await copyLayers(layers, directory)
  if (bytes !== undefined) await growDisk(copy, bytes)
  return copy
}

async function wantedBytes(layers: Layers, { diskMiB }: NewClone): Promise<number | undefined> {
  if (diskMiB === undefined) return undefined
  const size = await virtualBytes(layers)
  const bytes = diskMiB * 1024 ** 2
  if (bytes >= size) return bytes
  throw new Fault(
    'invalid',
    `diskMiB must be at least ${Math.ceil(size / 1024 ** 2)}, the size of the parent`,
  )
}

/** Snapshots are stored inside the active layer, and a chain must not grow without limit. */
async function wayOf(
  host: Host,
  { record, dom }: FoundVm,
  power: PowerState,
  layers: Layers,
): Promise<'freeze' | 'merge' | 'copy'> {
  const snapshots = await hasSnapshots(host, dom)
  if (!snapshots && layers.length < LAYERS_MAX) return cloneWays[power]
  if (power === 'off' || power === 'suspended') return 'copy'
  if (!snapshots) return 'merge'
  throw new Fault(
    'conflict',
    `VM ${record.id} is ${power} and has snapshots: its disk can be copied only while the VM is off`,
    { hint: 'remove its snapshots, or power it off, then clone', state: power },
  )
}

/**
 * Makes the VM's active layer read-only by adding a new layer above it. If that fails, the guest
 * may already write to the new layer, regardless of what libvirt reports.
 */
async function freezeActiveLayer(
  host: Host,
  parent: FoundVm,
  power: PowerState,
  layers: Layers,
): Promise<Layers> {
  const above = await addLayer(layers)
  try {
    if (power === 'off') await redefine(host, parent, { layers: above })
    else await switchLayer(host, parent.dom, above[0])
    return layers
  } catch (error) {
    await settleLayers(host, parent, power).catch((again: unknown) =>
      host.log(`the disk layers of VM ${parent.record.id} are not consistent yet`, again),
    )
    throw error
  }
}

/** Switches a running guest to another layer atomically. */
function switchLayer({ link }: Host, dom: libvirt.Domain, file: string): Promise<unknown> {
  const { diskOnly, reuseExt, noMetadata, atomic } = libvirt.DomainSnapshotCreateFlags
  const xmlDesc = renderElement(
    element(
      'domainsnapshot',
      {},
      element(
        'disks',
        {},
        element(
          'disk',
          { name: 'vda', snapshot: 'external' },
          element('driver', { type: 'qcow2' }),
          element('source', { file }),
        ),
      ),
    ),
  )
  const flags = diskOnly | reuseExt | noMetadata | atomic
  return link.call(libvirt.domainSnapshotCreateXml, { dom, xmlDesc, flags })
}
