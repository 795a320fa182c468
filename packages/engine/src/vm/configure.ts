import { Fault } from '@skerry/fault'
import {
  mayDo,
  whyNotBridge,
  whyNotName,
  whyNotTag,
  type LifecycleAction,
  type Vm,
} from '@skerry/vm'

import { noteOpened } from '../disk/check-disk.ts'
import { growDisk, readLayers, virtualBytes } from '../disk/disk.ts'
import { redefine } from '../disk/redefine.ts'
import { readFacts, type FoundVm } from '../domain/find-domain.ts'
import { readPowerOf } from '../domain/read-power.ts'
import type { Host } from '../host/host.ts'
import type { Owner } from '../host/owner.ts'
import { requireBridge } from '../network/bridge.ts'
import { hasSnapshots } from '../recover/find-snapshot.ts'
import { findSettled } from '../recover/pending-change.ts'
import { whyNotNumbers } from './create.ts'
import { readVm } from './vms.ts'

export interface Settings {
  readonly name?: string
  readonly tag?: string
  readonly cpus?: number
  readonly memoryMiB?: number
  /** A disk can only grow. */
  readonly diskMiB?: number
  readonly autostart?: boolean
  /** The host bridge to join, or null for the host's own network. */
  readonly bridge?: string | null
}

/** Changes hardware settings, only while the VM is off; name, tag and `autostart` at any time. */
export function configureVm(
  host: Host,
  id: string,
  settings: Settings,
  owner?: Owner,
): Promise<Vm> {
  return host.locks.run(id, async () => {
    const why = whyNotSettings(settings)
    if (why !== undefined) throw new Fault('invalid', why)
    const found = await findSettled(host, id, owner)
    const { name, tag, cpus, memoryMiB, diskMiB, bridge, autostart } = settings
    if ([cpus, memoryMiB, diskMiB, bridge].some((each) => each !== undefined)) {
      await requireOff(host, found, 'reconfigure')
      await requireBridge(host, bridge ?? undefined)
      if (diskMiB !== undefined) await grow(host, found, diskMiB)
      await redefine(host, found, {
        ...(cpus !== undefined && { cpus }),
        ...(memoryMiB !== undefined && { memoryMiB }),
        ...(bridge !== undefined && { bridge: bridge ?? undefined }),
      })
    }
    if (name !== undefined || tag !== undefined || autostart !== undefined) {
      await host.records.write({
        ...found.record,
        ...(name !== undefined && { name }),
        ...(tag !== undefined && { tag }),
        ...(autostart !== undefined && { autostart }),
      })
      // libvirt does not know these settings, so it emits no event.
      host.changes.emit({ kind: 'lifecycle', domain: found.dom.name })
    }
    return readVm(host, id, owner)
  })
}

function whyNotSettings(settings: Settings): string | undefined {
  const reasons = [
    settings.name === undefined ? undefined : whyNotName(settings.name),
    settings.tag === undefined ? undefined : whyNotTag(settings.tag),
    typeof settings.bridge === 'string' ? whyNotBridge(settings.bridge) : undefined,
    whyNotNumbers(settings),
  ]
  return reasons.find((reason) => reason !== undefined)
}

/** Enables or disables nested virtualisation. Takes effect at the next start. */
export function setNested(host: Host, id: string, nested: boolean, owner?: Owner): Promise<Vm> {
  return host.locks.run(id, async () => {
    const found = await findSettled(host, id, owner)
    if ((await readFacts(host, found.dom, 'next')).nested !== nested) {
      await requireOff(host, found, 'nest')
      await redefine(host, found, { nested })
    }
    return readVm(host, id, owner)
  })
}

async function requireOff(
  host: Host,
  { record, dom }: FoundVm,
  action: LifecycleAction,
): Promise<void> {
  const { power } = await readPowerOf(host, dom)
  if (mayDo(action, power)) return
  throw new Fault('conflict', `VM ${record.id} is ${power}; it must be off`, {
    hint: `shut VM ${record.id} down first`,
    state: power,
  })
}

async function grow(host: Host, { record, dom }: FoundVm, diskMiB: number): Promise<void> {
  const layers = await readLayers((await readFacts(host, dom, 'next')).disk)
  const bytes = diskMiB * 1024 ** 2
  const now = await virtualBytes(layers)
  if (bytes === now) return
  if (bytes < now) {
    throw new Fault(
      'invalid',
      `the disk of VM ${record.id} has ${now / 1024 ** 2} MiB and can only grow`,
    )
  }
  if (await hasSnapshots(host, dom)) {
    throw new Fault('conflict', `VM ${record.id} has snapshots; its disk cannot be resized`, {
      hint: 'remove its snapshots first',
    })
  }
  await noteOpened(host, record)
  await growDisk(layers, bytes)
}
