import { Fault } from '@skerry/fault'
import * as libvirt from '@skerry/libvirt'
import { cloneWays, type PowerState, type Vm } from '@skerry/vm'
import { element, renderElement } from '@skerry/xml'

import { requireBridge } from './bridge.ts'
import { make, whyNotNewVm, type NewVm } from './create.ts'
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
} from './disk.ts'
import { readFacts, type Found } from './find-domain.ts'
import { hasSnapshots } from './find-snapshot.ts'
import type { Host } from './host.ts'
import { mergeLayers } from './merge-layers.ts'
import { readPowerOf } from './read-power.ts'
import { redefine } from './redefine.ts'
import { settleLayers } from './settle-layers.ts'
import { requireRoom } from './space.ts'
import { findSettled } from './under-way.ts'

export type NewClone = Omit<NewVm, 'template'> & { readonly parent: string }

const FREEZE_BYTES = 4 * 1024 * 1024

/**
 * Makes a VM whose disk begins as the parent's is now. The parent may run: its disk becomes a base
 * that both stand on, and from then on each writes to a layer of its own.
 */
export function cloneVm(host: Host, asked: NewClone): Promise<Vm> {
  const why = whyNotNewVm(asked)
  if (why !== undefined) return Promise.reject(new Fault('invalid', why))
  return host.turns.takeAll([asked.id, asked.parent], () =>
    make(host, { ...networkOfParent(host, asked), ...asked }, async (begin) => {
      const parent = await findSettled(host, asked.parent, asked.owner)
      const { power } = await readPowerOf(host, parent.dom)
      await settleLayers(host, parent, power)
      const { disk, cpus, memoryMiB, nested, ...was } = await readFacts(host, parent.dom)
      const bridge = asked.bridge === undefined ? was.bridge : (asked.bridge ?? undefined)
      await requireBridge(host, bridge)
      const layers = await readLayers(disk)
      const bytes = await wantedBytes(layers, asked)
      const way = await wayOf(host, parent, power, layers)
      const room = way === 'freeze' ? FREEZE_BYTES : await allocatedBytes(layers)
      await requireRoom(host.paths.data, room, `cloning VM ${asked.parent}`)
      const base = way === 'merge' ? await mergeLayers(host, parent, power) : layers
      const directory = await begin()
      return {
        layers:
          way === 'copy'
            ? await copied(base, directory, bytes)
            : await addLayer(
                await linkLayers(await freeze(host, parent, power, base), directory),
                bytes,
              ),
        cpus: asked.cpus ?? cpus,
        memoryMiB: asked.memoryMiB ?? memoryMiB,
        nested,
        bridge,
      }
    }),
  )
}

function networkOfParent({ records }: Host, { parent, owner }: NewClone): Pick<NewVm, 'network'> {
  const network = records.get(parent, owner)?.network
  return network === undefined ? {} : { network }
}

async function copied(layers: Layers, directory: string, bytes?: number): Promise<Layers> {
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

/** Snapshots live inside the layer that is written to, and a chain must not grow without end. */
async function wayOf(
  host: Host,
  { record, dom }: Found,
  power: PowerState,
  layers: Layers,
): Promise<'freeze' | 'merge' | 'copy'> {
  const snapshots = await hasSnapshots(host, dom)
  if (!snapshots && layers.length < LAYERS_MAX) return cloneWays[power]
  if (power === 'off' || power === 'suspended') return 'copy'
  if (!snapshots) return 'merge'
  throw new Fault(
    'conflict',
    `VM ${record.id} is ${power} and has snapshots: its disk can only be copied while it is off`,
    { hint: 'remove its snapshots, or power it off, then clone', state: power },
  )
}

/**
 * Makes the layer that the VM writes to one that nobody writes to, by giving it a new one above.
 * When that fails, the guest may already write to the new one, whatever libvirt says.
 */
async function freeze(
  host: Host,
  parent: Found,
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
      host.note(`the disk of VM ${parent.record.id} is not in order yet`, again),
    )
    throw error
  }
}

/** Makes a running guest write to another layer from one moment to the next. */
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
