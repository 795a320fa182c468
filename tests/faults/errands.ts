// The errands of a client, each with a check from outside that it was done.
import { Fault } from '@skerry/fault'
import type { PowerCommand, PowerState } from '@skerry/vm'

import type { Driven } from './driven.ts'
import type { Errand } from './insist.ts'

export const create = (id: string): Errand => ({
  what: `create ${id}`,
  run: (engine) => engine.createVm({ id, memoryMiB: 128 }),
  isDone: (engine) => exists(engine, id),
})

export const clone = (parent: string, id: string): Errand => ({
  what: `clone ${parent} as ${id}`,
  run: (engine) => engine.cloneVm({ id, parent }),
  isDone: (engine) => exists(engine, id),
})

export const remove = (id: string): Errand => ({
  what: `delete ${id}`,
  run: (engine) => engine.deleteVm(id),
  isDone: async (engine) => !(await exists(engine, id)),
})

const leadsTo: Partial<Record<PowerCommand, PowerState>> = {
  off: 'off',
  suspend: 'suspended',
  pause: 'paused',
}

export const power = (id: string, command: PowerCommand): Errand => ({
  what: `${command} of ${id}`,
  run: (engine) => engine.changePower(id, command),
  isDone: async (engine) => (await engine.readPower(id)) === (leadsTo[command] ?? 'on'),
})

export const keep = (id: string, name: string, memory: boolean): Errand => ({
  what: `snapshot ${name} of ${id} ${memory ? 'with' : 'without'} memory`,
  run: (engine) => engine.createSnapshot(id, { name, memory }),
  isDone: (engine) => hasSnapshot(engine, id, name),
})

export const revert = (id: string, name: string): Errand => ({
  what: `revert of ${id} to ${name}`,
  run: (engine) => engine.revertSnapshot(id, name),
  // Nothing shows that a revert was done, and doing it twice is harmless.
  isDone: () => Promise.resolve(false),
})

export const forget = (id: string, name: string): Errand => ({
  what: `removal of snapshot ${name} of ${id}`,
  run: (engine) => engine.removeSnapshot(id, name),
  isDone: async (engine) => !(await hasSnapshot(engine, id, name)),
})

export const share = (id: string): Errand => ({
  what: `sharing of ${id}`,
  run: (engine) => engine.enableSharing(id),
  isDone: async (engine) => (await engine.readVm(id)).sharing,
})

export const map = (id: string, guestPath: string, hostPath: string): Errand => ({
  what: `folder ${guestPath} of ${id}`,
  run: (engine) => engine.addFolder(id, { guestPath, hostPath, flags: 4 }),
  isDone: (engine) => hasFolder(engine, id, guestPath),
})

export const unmap = (id: string, guestPath: string): Errand => ({
  what: `removal of folder ${guestPath} of ${id}`,
  run: (engine) => engine.removeFolder(id, guestPath),
  isDone: async (engine) => !(await hasFolder(engine, id, guestPath)),
})

export const look = (id: string): Errand => ({
  what: `a look at ${id}`,
  run: (engine) => Promise.all([engine.listVms(), engine.readVm(id), engine.readStats(id)]),
  isDone: () => Promise.resolve(false),
})

export async function exists(engine: Driven, id: string): Promise<boolean> {
  try {
    await engine.readVm(id)
    return true
  } catch (error) {
    if (error instanceof Fault && error.kind === 'not-found') return false
    throw error
  }
}

async function hasSnapshot(engine: Driven, id: string, name: string): Promise<boolean> {
  return (await engine.listSnapshots(id)).some((snapshot) => snapshot.name === name)
}

async function hasFolder(engine: Driven, id: string, guestPath: string): Promise<boolean> {
  return (await engine.listFolders(id)).some((folder) => folder.guestPath === guestPath)
}
