import { Fault } from '@skerry/fault'
import { sql } from 'kysely'

import { writeClaimed, type VmRow } from '../inventory/vms.ts'
import { createSnapshotParams, type SnapshotRequest } from '../params/snapshot.ts'
import { noteOnTask } from '../tasks/find-task.ts'
import { operation, type StepContext, type Operation, type Step } from '../tasks/operation.ts'
import { hostStep } from './host-step.ts'
import { releaseSnapshot, reserveRoom, type Storing } from './room.ts'

const permission = 'vm:edit'

/** On the host the snapshot is named after its task, so that a repeated step finds it taken. */
const nameOf = ({ task }: StepContext): string => task.id

/** The input is missing if the operation was not submitted by a client. */
const requested = ({ task }: StepContext): SnapshotRequest =>
  (task.input as SnapshotRequest | null) ?? {}

const keepsMemory = ({ memory = true }: SnapshotRequest): boolean => memory

/** The largest possible size of a snapshot: every block of the disk, and the memory if it is kept. */
const most = ({ disk_mib, memory_mib }: VmRow, memory: boolean): number =>
  disk_mib + (memory ? memory_mib : 0)

const storing = ({ vm, order, task }: StepContext): Storing => ({
  vm: vm.id,
  fencingToken: order.fencingToken,
  task: task.id,
})

const reserve: Step = {
  name: 'reserve',
  rows: true,
  run: (at) =>
    reserveRoom(at.context.db, storing(at), {
      what: 'a snapshot',
      column: 'taking_mib',
      mib: (vm) => most(vm, keepsMemory(requested(at)) && vm.status !== 'POWERED_OFF'),
    }),
  undo: (at) => releaseSnapshot(at.context.db, storing(at)),
}

const taken = hostStep(
  'snapshot',
  (at) => ({ goal: 'snapshotted', name: nameOf(at), memory: keepsMemory(requested(at)) }),
  { none: 'the previous snapshot is deleted as soon as the new one exists' },
  {
    long: true,
    before: ({ context, vm, order }) =>
      writeClaimed(context.db, vm.id, order.fencingToken, { taking_asked: true }),
  },
)

/** Takes the snapshot on the host and writes its row in one step, so that both stay consistent. */
const take: Step = {
  ...taken,
  async run(at) {
    const { context, vm, order, task } = at
    await taken.run(at)
    const name = nameOf(at)
    if (vm.snapshot === name) return
    await writeClaimed(context.db, vm.id, order.fencingToken, {
      snapshot: name,
      snapshot_name: requested(at).name ?? null,
      snapshot_at: sql<Date>`clock_timestamp()`,
      snapshot_on: task.status_before === 'POWERED_ON' && keepsMemory(requested(at)),
      // The status was observed after the snapshot was taken: a VM that was off at the claim may have been on by then.
      snapshot_mib: sql<number>`disk_mib + case when ${keepsMemory(requested(at))}
        and (${task.status_before === 'POWERED_ON'} or status = 'POWERED_ON') then memory_mib else 0 end`,
      taking_mib: 0,
      taking_asked: false,
    })
    if (vm.snapshot === null) return
    const before = vm.snapshot_name ?? 'without a name'
    await noteOnTask(
      context.db,
      task.id,
      `replaced the snapshot ${before} of ${vm.snapshot_at?.toISOString()}`,
    )
  },
}

const back = hostStep(
  'revert',
  ({ vm }) => ({ goal: 'reverted', name: vm.snapshot ?? '' }),
  { none: 'the discarded state cannot be restored' },
  { long: true },
)

/** The target status was decided at submission: a snapshot that was taken since may lead to another. */
const revert = (on: boolean): Step => ({
  ...back,
  async run(at) {
    if (at.vm.snapshot === null || at.vm.snapshot_on !== on) {
      throw new Fault('wrong-state', `VM ${at.vm.name} has another snapshot than at submission`)
    }
    await back.run(at)
  },
})

const reverting = (on: boolean): Operation =>
  operation({
    name: on ? 'revertToRunning' : 'revertToStopped',
    permission,
    action: { path: 'action/revertToCurrentSnapshot', rel: 'snapshot:revertToCurrent' },
    stores: 'nothing',
    forVapp: { order: 'at once', stopsOnFailure: false },
    offered: {
      when: (vm) => vm.snapshot !== null && vm.snapshot_on === on,
      otherwise: 'it has no snapshot',
    },
    from: ['POWERED_ON', 'POWERED_OFF'],
    to: on ? 'POWERED_ON' : 'POWERED_OFF',
    task: {
      name: 'vappRevertToCurrentSnapshot',
      doing: 'Reverting to the snapshot of',
      done: 'Reverted to the snapshot of',
    },
    withinSeconds: 1800,
    doc: 'Reverts the VM to its snapshot.',
    steps: [revert(on)],
  })

const gone = hostStep(
  'unsnapshot',
  { goal: 'noSnapshots' },
  {
    none: 'a removed snapshot cannot be restored',
  },
  { long: true },
)

const remove: Step = {
  ...gone,
  async run(at) {
    await gone.run(at)
    const { context, vm, order } = at
    await writeClaimed(context.db, vm.id, order.fencingToken, {
      snapshot: null,
      snapshot_name: null,
      snapshot_at: null,
      snapshot_on: false,
      snapshot_mib: 0,
      taking_mib: 0,
      taking_asked: false,
    })
  },
}

export const snapshotOperations: readonly Operation[] = [
  operation<SnapshotRequest>({
    name: 'createSnapshot',
    permission,
    action: {
      path: 'action/createSnapshot',
      rel: 'snapshot:create',
      document: 'createSnapshotParams',
    },
    takes: createSnapshotParams,
    forVapp: { order: 'first to last', stopsOnFailure: false },
    from: ['POWERED_ON', 'POWERED_OFF'],
    task: {
      name: 'vappCreateSnapshot',
      doing: 'Taking a snapshot of',
      done: 'Took a snapshot of',
    },
    withinSeconds: 1800,
    doc: 'Takes a snapshot of the VM, with its memory if the VM runs and memory is not false. It replaces the previous snapshot, and the task reports that.',
    stores: (vm, input) => {
      const isOff = vm.status === 'POWERED_OFF' && vm.projected_status === 'POWERED_OFF'
      return most(vm, keepsMemory(input ?? {}) && !isOff)
    },
    steps: [reserve, take],
  }),
  reverting(true),
  reverting(false),
  operation({
    name: 'removeAllSnapshots',
    permission,
    action: { path: 'action/removeAllSnapshots', rel: 'snapshot:removeAll' },
    stores: 'nothing',
    bulk: true,
    forVapp: { order: 'first to last', stopsOnFailure: false },
    offered: {
      when: (vm) => vm.snapshot !== null || vm.taking_mib > 0,
      otherwise: 'it has no snapshot',
    },
    from: ['POWERED_ON', 'POWERED_OFF', 'SUSPENDED'],
    task: {
      name: 'vappRemoveAllSnapshots',
      doing: 'Removing the snapshot of',
      done: 'Removed the snapshot of',
    },
    withinSeconds: 1800,
    doc: 'Deletes the snapshot; the VM stays as it is.',
    steps: [remove],
  }),
]
