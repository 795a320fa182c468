import { Fault } from '@skerry/fault'
import { mayDo, type LifecycleAction, type Vm } from '@skerry/vm'

import { noteOpened } from './check-disk.ts'
import { settingLimits } from './create.ts'
import { growDisk, readLayers, virtualBytes } from './disk.ts'
import { readFacts, type Found } from './find-domain.ts'
import { hasSnapshots } from './find-snapshot.ts'
import type { Host } from './host.ts'
import { readPowerOf } from './read-power.ts'
import { redefine } from './redefine.ts'
import { findSettled } from './under-way.ts'
import { readVm } from './vms.ts'

export interface Settings {
  readonly cpus?: number
  readonly memoryMiB?: number
  /** A disk only grows. */
  readonly diskMiB?: number
  readonly autostart?: boolean
}

/** Changes what the VM is made of; all but `autostart` only while it is off. */
export function configureVm(host: Host, id: string, settings: Settings): Promise<Vm> {
  return host.turns.take(id, async () => {
    for (const [name, { min, max }] of Object.entries(settingLimits)) {
      const value = settings[name as keyof typeof settingLimits]
      if (value !== undefined && !(Number.isInteger(value) && value >= min && value <= max)) {
        throw new Fault('invalid', `${name} must be a whole number from ${min} to ${max}`)
      }
    }
    const found = await findSettled(host, id)
    const { cpus, memoryMiB, diskMiB, autostart } = settings
    if (cpus !== undefined || memoryMiB !== undefined || diskMiB !== undefined) {
      await requireOff(host, found, 'reconfigure')
      if (diskMiB !== undefined) await grow(host, found, diskMiB)
      await redefine(host, found, {
        ...(cpus !== undefined && { cpus }),
        ...(memoryMiB !== undefined && { memoryMiB }),
      })
    }
    if (autostart !== undefined) await host.records.write({ ...found.record, autostart })
    return readVm(host, id)
  })
}

/** Lets the guest run guests of its own, or not. It sees so at its next start. */
export function setNested(host: Host, id: string, nested: boolean): Promise<Vm> {
  return host.turns.take(id, async () => {
    const found = await findSettled(host, id)
    if ((await readFacts(host, found.dom, 'next')).nested !== nested) {
      await requireOff(host, found, 'nest')
      await redefine(host, found, { nested })
    }
    return readVm(host, id)
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
