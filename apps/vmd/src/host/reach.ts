import {
  changePower,
  cloneVm,
  configureVm,
  createFromImage,
  createSnapshot,
  discardMemory,
  hasImage,
  joinNetwork,
  listSnapshots,
  reachPower,
  readVm,
  removeSnapshot,
  removeVm,
  revertSnapshot,
  setNested,
  type Host,
} from '@skerry/engine'
import { Fault } from '@skerry/fault'
import type { Deed, Goal, GoalName } from '@skerry/host-api'
import type { Order } from '@skerry/vm'

import type { PullImage } from './pull-image.ts'

export interface At {
  readonly host: Host
  readonly order: Order
  /** Whose VM it is, where that is written down. */
  readonly org: string | undefined
  readonly pull: PullImage
  readonly signal: AbortSignal
  readonly progress: (percent: number) => void
}

type Of<Name extends GoalName> = Extract<Goal, { be: Name }>
type Reach = { readonly [Name in GoalName]: (at: At, goal: Of<Name>) => Promise<unknown> }

const owner = 'cloud'

/** How each goal is reached; each is content where it is so already. */
const ways: Reach = {
  image: ({ pull, order, signal, progress }, { digest }) =>
    pull(digest, order.vm, { signal, progress }),
  defined: define,
  cloned: clone,
  adopted: async () => undefined,
  power,
  reset: ({ host, order }) => changePower(host, order.vm, 'reset', { owner }),
  shutdown,
  discarded: ({ host, order }) => discardMemory(host, order.vm, { owner }),
  reboot: ({ host, order }) => changePower(host, order.vm, 'reboot', { owner }),
  nested: ({ host, order }, { to }) => setNested(host, order.vm, to, owner),
  snapshotted,
  reverted: ({ host, order }, { name }) => revertSnapshot(host, order.vm, name, owner),
  unsnapshotted: ({ host, order }) => keepOnly(host, order.vm, undefined),
  gone: ({ host, order }) => removeVm(host, order.vm, owner),
}

export async function reach(at: At, goal: Goal): Promise<void> {
  const way = ways[goal.be] as (at: At, goal: Goal) => Promise<unknown>
  await way(at, goal)
}

async function power({ host, order, org }: At, { to }: Of<'power'>): Promise<void> {
  if (to === 'on' && org !== undefined) await joinNetwork(host, order.vm, org)
  await reachPower(host, order.vm, to, { owner })
}

/** A guest that does not listen is no reason to ask for ever: whoever asked decides what comes next. */
async function shutdown({ host, order }: At): Promise<void> {
  try {
    await changePower(host, order.vm, 'shutdown', { owner })
  } catch (error) {
    if (!(error instanceof Fault) || error.kind !== 'timed-out') throw error
    throw new Fault('wrong-state', error.message, { cause: error, detail: 'on' })
  }
}

/** The new one first: if it cannot be taken, the one before is still there. */
async function snapshotted(
  { host, order }: At,
  { name, memory }: Of<'snapshotted'>,
): Promise<void> {
  const { vm } = order
  const all = await listSnapshots(host, vm, owner)
  if (!all.some((each) => each.name === name)) {
    const runs = (await readVm(host, vm, owner)).power !== 'off'
    await createSnapshot(host, vm, { name, memory: memory && runs }, owner)
  }
  await keepOnly(host, vm, name)
}

async function keepOnly(host: Host, vm: string, name: string | undefined): Promise<void> {
  for (const each of await listSnapshots(host, vm, owner)) {
    if (each.name !== name) await removeSnapshot(host, vm, each.name, owner)
  }
}

async function define(
  { host, order, pull, signal, progress }: At,
  { deed, seed }: Of<'defined'>,
): Promise<void> {
  const { vm: id, incarnation } = order
  const { org, name, image, cpus, memoryMiB, diskMiB } = deed
  const record = host.records.get(id, owner)
  if (record?.phase === 'there') return change({ host, id }, deed)
  // Half of it may be left from an attempt that died.
  if (record) await removeVm(host, id, owner)
  // The cache may have been emptied since the image was asked for.
  if (!(await hasImage(host, image))) await pull(image, id, { signal, progress })
  await createFromImage(host, {
    ...{ id, incarnation, name, org, image, cpus, memoryMiB, diskMiB },
    ...(seed && { seed }),
  })
}

/** A copy of what stands still: whether it does is seen here, whatever the cloud believes. */
async function clone({ host, order }: At, { deed, source, seed }: Of<'cloned'>): Promise<void> {
  const { vm: id, incarnation } = order
  const { name, cpus, memoryMiB, diskMiB } = deed
  const record = host.records.get(id, owner)
  if (record?.phase === 'there') return change({ host, id }, deed)
  // Half of it may be left from an attempt that died.
  if (record) await removeVm(host, id, owner)
  const { power } = await readVm(host, source, owner)
  if (power !== 'off') {
    throw new Fault('wrong-state', `VM ${source} is ${power}; to be copied it must be off`, {
      detail: power,
    })
  }
  await cloneVm(host, {
    ...{ id, incarnation, owner, parent: source, name, cpus, memoryMiB, diskMiB },
    ...(seed && { seed }),
  })
}

/** Only what differs, because most of it can be changed only while the VM is off. */
async function change({ host, id }: { host: Host; id: string }, deed: Deed): Promise<void> {
  const now = await readVm(host, id, owner)
  const wanted = {
    ...(deed.name !== now.name && { name: deed.name }),
    ...(deed.cpus !== now.cpus && { cpus: deed.cpus }),
    ...(deed.memoryMiB !== now.memoryMiB && { memoryMiB: deed.memoryMiB }),
    ...(deed.diskMiB !== now.diskMiB && { diskMiB: deed.diskMiB }),
  }
  if (Object.keys(wanted).length > 0) await configureVm(host, id, wanted, owner)
}

/** A later life begins where nothing is left of an earlier one. What runs is never taken away for it. */
export async function leaveEarlierLife({ host, order }: Pick<At, 'host' | 'order'>): Promise<void> {
  const record = host.records.get(order.vm, owner)
  if (!record || record.incarnation === order.incarnation) return
  if (record.phase === 'there') {
    const { power } = await readVm(host, order.vm, owner)
    if (power === 'on' || power === 'paused') {
      throw new Fault('wrong-state', `an earlier life of VM ${order.vm} is ${power} here`, {
        detail: power,
      })
    }
  }
  await removeVm(host, order.vm, owner)
}
