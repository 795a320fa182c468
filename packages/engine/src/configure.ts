import { Fault } from '@skerry/fault'
import {
  mayDo,
  whyNotBridge,
  whyNotName,
  whyNotTag,
  type LifecycleAction,
  type Vm,
} from '@skerry/vm'

import { requireBridge } from './bridge.ts'
import { noteOpened } from './check-disk.ts'
import { whyNotNumbers } from './create.ts'
import { growDisk, readLayers, virtualBytes } from './disk.ts'
import { readFacts, type Found } from './find-domain.ts'
import { hasSnapshots } from './find-snapshot.ts'
import type { Host } from './host.ts'
import { readPowerOf } from './read-power.ts'
import type { Owner } from './record.ts'
import { redefine } from './redefine.ts'
import { findSettled } from './under-way.ts'
import { readVm } from './vms.ts'

export interface Settings {
  readonly name?: string
  readonly tag?: string
  readonly cpus?: number
  readonly memoryMiB?: number
  /** A disk only grows. */
  readonly diskMiB?: number
  readonly autostart?: boolean
  /** A bridge of the host to join, or null for the host's own network. */
  readonly bridge?: string | null
}

/** Changes what the VM is made of, only while it is off; its name, tag and `autostart` at any time. */
export function configureVm(
  host: Host,
  id: string,
  settings: Settings,
  owner?: Owner,
): Promise<Vm> {
  return host.turns.take(id, async () => {
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
      // libvirt knows nothing of it, so nobody else would tell.
      host.changes.tell({ kind: 'lifecycle', domain: found.dom.name })
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

/** Lets the guest run guests of its own, or not. It sees so at its next start. */
export function setNested(host: Host, id: string, nested: boolean, owner?: Owner): Promise<Vm> {
  return host.turns.take(id, async () => {
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
  { record, dom }: Found,
  action: LifecycleAction,
): Promise<void> {
  const { power } = await readPowerOf(host, dom)
  if (mayDo(action, power)) return
  throw new Fault('conflict', `VM ${record.id} is ${power}; this needs it to be off`, {
    hint: `shut VM ${record.id} down first`,
    state: power,
  })
}

async function grow(host: Host, { record, dom }: Found, diskMiB: number): Promise<void> {
  const layers = await readLayers((await readFacts(host, dom, 'next')).disk)
  const bytes = diskMiB * 1024 ** 2
  const now = await virtualBytes(layers)
  if (bytes === now) return
  if (bytes < now) {
    throw new Fault(
      'invalid',
      `the disk of VM ${record.id} has ${now / 1024 ** 2} MiB and only grows`,
    )
  }
  if (await hasSnapshots(host, dom)) {
    throw new Fault('conflict', `VM ${record.id} has snapshots of the disk as it is`, {
      hint: 'remove its snapshots first',
    })
  }
  await noteOpened(host, record)
  await growDisk(layers, bytes)
}
