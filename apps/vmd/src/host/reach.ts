import {
  changeNics,
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
import type { VmSpec, Goal, GoalName } from '@skerry/host-api'
import { networkOf, type Order } from '@skerry/vm'

import type { PullImage } from './pull-image.ts'

export interface GoalContext {
  readonly host: Host
  readonly order: Order
  /** Its spec of the last order, if it is recorded. */
  readonly spec: VmSpec | undefined
  readonly pull: PullImage
  readonly signal: AbortSignal
  readonly progress: (percent: number) => void
}

type Of<Name extends GoalName> = Extract<Goal, { goal: Name }>
type Reach = { readonly [Name in GoalName]: (at: GoalContext, goal: Of<Name>) => Promise<unknown> }

const owner = 'cloud'

/** How each goal is reached. Each is idempotent. */
const ways: Reach = {
  image: ({ pull, order, signal, progress }, { digest }) =>
    pull(digest, order.vm, { signal, progress }),
  defined: define,
  cloned: clone,
  adopted: async () => undefined,
  power,
  reset: ({ host, order }) => changePower(host, order.vm, 'reset', { owner }),
  shutdown,
  noSavedState: ({ host, order }) => discardMemory(host, order.vm, { owner }),
  reboot: ({ host, order }) => changePower(host, order.vm, 'reboot', { owner }),
  nested: ({ host, order }, { to }) => setNested(host, order.vm, to, owner),
  snapshotted,
  reverted: ({ host, order }, { name }) => revertSnapshot(host, order.vm, name, owner),
  noSnapshots: ({ host, order }) => keepOnly(host, order.vm, undefined),
  gone: ({ host, order }) => removeVm(host, order.vm, owner),
}

export async function reach(at: GoalContext, goal: Goal): Promise<void> {
  const way = ways[goal.goal] as (at: GoalContext, goal: Goal) => Promise<unknown>
  await way(at, goal)
}

async function power({ host, order, spec }: GoalContext, { to }: Of<'power'>): Promise<void> {
  if (to === 'on' && spec) await joinNetwork(host, order.vm, spec)
  await reachPower(host, order.vm, to, { owner })
}

/** A guest that ignores the request is not asked forever: the caller decides what comes next. */
async function shutdown({ host, order }: GoalContext): Promise<void> {
  try {
    await changePower(host, order.vm, 'shutdown', { owner })
  } catch (error) {
    if (!(error instanceof Fault) || error.kind !== 'timed-out') throw error
    throw new Fault('wrong-state', error.message, { cause: error, detail: 'on' })
  }
}

/** The new snapshot first: if it cannot be taken, the previous one is still there. */
async function snapshotted(
  { host, order }: GoalContext,
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
  { host, order, pull, signal, progress }: GoalContext,
  { spec, seed }: Of<'defined'>,
): Promise<void> {
  const { vm: id, incarnation } = order
  const { org, name, image, cpus, memoryMiB, diskMiB, nics } = spec
  const record = host.records.get(id, owner)
  if (record?.phase === 'there') return change({ host, id }, spec)
  // A crashed attempt may have left an incomplete VM.
  if (record) await removeVm(host, id, owner)
  // The cache may have been emptied since the image was pulled.
  if (!(await hasImage(host, image))) await pull(image, id, { signal, progress })
  await createFromImage(host, {
    id,
    incarnation,
    name,
    org,
    image,
    cpus,
    memoryMiB,
    diskMiB,
    ...(nics && { nics }),
    ...(seed && { seed }),
  })
}

/** Copies a VM that is off; that is checked here, regardless of the cloud's view. */
async function clone(
  { host, order }: GoalContext,
  { spec, source, seed }: Of<'cloned'>,
): Promise<void> {
  const { vm: id, incarnation } = order
  const { org, name, cpus, memoryMiB, diskMiB, nics } = spec
  const record = host.records.get(id, owner)
  if (record?.phase === 'there') return change({ host, id }, spec)
  // A crashed attempt may have left an incomplete VM.
  if (record) await removeVm(host, id, owner)
  const { power } = await readVm(host, source, owner)
  if (power !== 'off') {
    throw new Fault('wrong-state', `VM ${source} is ${power}; it must be off to be cloned`, {
      detail: power,
    })
  }
  await cloneVm(host, {
    id,
    incarnation,
    owner,
    parent: source,
    name,
    cpus,
    memoryMiB,
    diskMiB,
    // Its source may have other cards.
    ...(nics ? { nics } : { network: networkOf(org) }),
    ...(seed && { seed }),
  })
}

/** Applies only the differences, because most settings can be changed only while the VM is off. */
async function change({ host, id }: { host: Host; id: string }, spec: VmSpec): Promise<void> {
  const now = await readVm(host, id, owner)
  const wanted = {
    ...(spec.name !== now.name && { name: spec.name }),
    ...(spec.cpus !== now.cpus && { cpus: spec.cpus }),
    ...(spec.memoryMiB !== now.memoryMiB && { memoryMiB: spec.memoryMiB }),
    ...(spec.diskMiB !== now.diskMiB && { diskMiB: spec.diskMiB }),
  }
  if (Object.keys(wanted).length > 0) await configureVm(host, id, wanted, owner)
  await changeNics(host, id, spec)
}

/** Removes what is left of an earlier incarnation before a new one begins. A running VM is never removed for it. */
export async function leaveEarlierLife({
  host,
  order,
}: Pick<GoalContext, 'host' | 'order'>): Promise<void> {
  const record = host.records.get(order.vm, owner)
  if (!record || record.incarnation === order.incarnation) return
  if (record.phase === 'there') {
    const { power } = await readVm(host, order.vm, owner)
    if (power === 'on' || power === 'paused') {
      throw new Fault(
        'wrong-state',
        `an earlier incarnation of VM ${order.vm} is ${power} on this host`,
        {
          detail: power,
        },
      )
    }
  }
  await removeVm(host, order.vm, owner)
}
