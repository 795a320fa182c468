import { Fault } from '@skerry/fault'
import { sql } from 'kysely'

import { hostStep } from '../host-step.ts'
import { operation, type At, type Operation, type Step } from '../operation.ts'
import { createSnapshotParams, type SnapshotAsked } from '../params/snapshot.ts'
import { noteOnTask } from '../store/find-task.ts'
import { writeClaimed } from '../store/vms.ts'

const since = '5.1'
const permission = 'vm:edit'

/** On the host it is called by its task: whoever takes it again finds it taken. */
const nameOf = ({ task }: At): string => task.id

/** Asked by somebody else than a client, it comes without anything asked. */
const asked = ({ task }: At): SnapshotAsked => (task.input as SnapshotAsked | null) ?? {}

const taken = hostStep(
  'snapshot',
  (at) => ({ be: 'snapshotted', name: nameOf(at), memory: asked(at).memory ?? true }),
  { none: 'the one before is gone as soon as the new one is there' },
  { long: true },
)

/** What the host has and what is written here go together: there is no step between them. */
const take: Step = {
  ...taken,
  async run(at) {
    const { world, vm, order, task } = at
    await taken.run(at)
    const name = nameOf(at)
    if (vm.snapshot === name) return
    await writeClaimed(world.db, vm.id, order.number, {
      ...{ snapshot: name, snapshot_name: asked(at).name ?? null },
      snapshot_at: sql<Date>`clock_timestamp()`,
      snapshot_on: task.found === 'POWERED_ON' && (asked(at).memory ?? true),
    })
    if (vm.snapshot === null) return
    const before = vm.snapshot_name ?? 'without a name'
    await noteOnTask(
      world.db,
      task.id,
      `it replaced the snapshot ${before} of ${vm.snapshot_at?.toISOString()}`,
    )
  },
}

const back = hostStep(
  'revert',
  ({ vm }) => ({ be: 'reverted', name: vm.snapshot ?? '' }),
  { none: 'what was thrown away by it is gone' },
  { long: true },
)

/** Which it leads to was decided when it was asked for: a snapshot that was taken since leads elsewhere. */
const revert = (on: boolean): Step => ({
  ...back,
  async run(at) {
    if (at.vm.snapshot === null || at.vm.snapshot_on !== on) {
      throw new Fault(
        'wrong-state',
        `VM ${at.vm.name} has another snapshot than when this was asked for`,
      )
    }
    await back.run(at)
  },
})

const reverting = (on: boolean): Operation =>
  operation({
    name: on ? 'revertToRunning' : 'revertToStopped',
    permission,
    since,
    action: { path: 'action/revertToCurrentSnapshot', rel: 'snapshot:revertToCurrent' },
    offered: (vm) => vm.snapshot !== null && vm.snapshot_on === on,
    from: ['POWERED_ON', 'POWERED_OFF'],
    to: on ? 'POWERED_ON' : 'POWERED_OFF',
    task: {
      name: 'vappRevertToCurrentSnapshot',
      doing: 'Reverting to the snapshot of',
      done: 'Reverted to the snapshot of',
    },
    withinSeconds: 1800,
    doc: 'Brings the VM back to what it was when its snapshot was taken.',
    steps: [revert(on)],
  })

const gone = hostStep(
  'unsnapshot',
  { be: 'unsnapshotted' },
  {
    none: 'a snapshot that was removed stays so',
  },
  { long: true },
)

const remove: Step = {
  ...gone,
  async run(at) {
    await gone.run(at)
    const { world, vm, order } = at
    await writeClaimed(world.db, vm.id, order.number, {
      ...{ snapshot: null, snapshot_name: null, snapshot_at: null, snapshot_on: false },
    })
  },
}

export const [revertToRunning, revertToStopped] = [reverting(true), reverting(false)]

export const snapshotOperations: readonly Operation[] = [
  operation<SnapshotAsked>({
    name: 'createSnapshot',
    permission,
    since,
    action: {
      ...{ path: 'action/createSnapshot', rel: 'snapshot:create' },
      document: 'createSnapshotParams',
    },
    takes: createSnapshotParams,
    from: ['POWERED_ON', 'POWERED_OFF'],
    task: {
      name: 'vappCreateSnapshot',
      doing: 'Taking a snapshot of',
      done: 'Took a snapshot of',
    },
    withinSeconds: 1800,
    doc: 'Keeps the VM as it is now, with its memory while it runs unless memory is false. It replaces the one before, and says so.',
    steps: [take],
  }),
  revertToRunning,
  revertToStopped,
  operation({
    name: 'removeAllSnapshots',
    permission,
    since,
    action: { path: 'action/removeAllSnapshots', rel: 'snapshot:removeAll' },
    offered: (vm) => vm.snapshot !== null,
    from: ['POWERED_ON', 'POWERED_OFF', 'SUSPENDED'],
    task: {
      name: 'vappRemoveAllSnapshots',
      doing: 'Removing the snapshot of',
      done: 'Removed the snapshot of',
    },
    withinSeconds: 1800,
    doc: 'Forgets the snapshot; the VM stays as it is.',
    steps: [remove],
  }),
]
