import { type Static, type TObject, Type } from '@skerry/schema'
import {
  commandTo,
  lifecycleRules,
  nicMtu,
  NICS_MAX,
  powerRules,
  powerStates,
  UUID,
  type GoalNature,
  type PowerState,
  type Vm,
} from '@skerry/vm'

/** What a goal requires of an existing VM, and what it changes. Every host, real or simulated, applies the same rule. */
export interface GoalRule {
  /** The power states in which it can be reached. A VM that it would not change may be in any state. */
  readonly from: readonly PowerState[]
  /** The power state afterwards; undefined: the same, or that of a snapshot. */
  readonly to?: PowerState
  /** Settings of the VM afterwards. */
  readonly sets?: Partial<Pick<Vm, 'nested' | 'autostart'>>
}

/** A state that a host can be asked to reach. Data: vmd validates it, the reference prints it. */
export interface GoalKind<Shape extends TObject> extends GoalNature {
  readonly shape: Shape
  readonly doc: string
  /** Missing if the VM begins or ends with it. */
  readonly rule?: (goal: Static<Shape>) => GoalRule
}

/** A goal with which a VM begins or ends. */
function life<Shape extends TObject>(
  which: 'begins' | 'ends',
  doc: string,
  shape: Shape,
): GoalKind<Shape> {
  return { shape, doc, repeatable: true, life: which }
}

/** A goal for a VM that exists. Not repeatable: it has an effect each time, so it is not repeated if its outcome is unknown. */
function change<Shape extends TObject>(
  doc: string,
  shape: Shape,
  rule: (goal: Static<Shape>) => GoalRule,
  { repeatable = true } = {},
): GoalKind<Shape> {
  return { shape, doc, repeatable, life: 'needs', rule }
}

const closed = { additionalProperties: false }
const Digest = Type.String({ pattern: '^[0-9a-f]{64}$' })

// Strings have examples: tests make one goal of each kind from its shape.
const SnapshotName = Type.String({
  pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$',
  examples: ['kept'],
})

const Uuid = Type.String({ pattern: `^${UUID}$` })
const NicSpec = Type.Object(
  {
    index: Type.Integer({ minimum: 0, maximum: NICS_MAX - 1 }),
    id: Uuid,
    mac: Type.String({ pattern: '^52(:[0-9a-f]{2}){5}$' }),
    mtu: Type.Integer({ minimum: nicMtu.min, maximum: nicMtu.max }),
    connected: Type.Boolean(),
    network: Uuid,
    address: Type.Optional(Type.String({ format: 'ipv4' })),
  },
  closed,
)

/** The VM spec: hardware, image and owner of a VM. Enough to find the owner from the host alone. */
export const VmSpec = Type.Object(
  {
    org: Type.String({ maxLength: 64 }),
    vApp: Type.String({ maxLength: 64 }),
    name: Type.String({ minLength: 1, maxLength: 128 }),
    cpus: Type.Integer({ minimum: 1, maximum: 256 }),
    memoryMiB: Type.Integer({ minimum: 16 }),
    diskMiB: Type.Integer({ minimum: 1 }),
    image: Digest,
    /** Its cards on networks that reach across hosts. Missing: one card on the network of its organisation on this host. */
    nics: Type.Optional(Type.Array(NicSpec, { maxItems: NICS_MAX })),
  },
  closed,
)
export type VmSpec = Static<typeof VmSpec>

/**
 * Data for the guest's first boot (cloud-init). Separate from the VM spec, because hosts store and report specs, and the seed may
 * contain secrets.
 */
export const GuestSeed = Type.Object(
  {
    hostname: Type.String({ minLength: 1, maxLength: 63 }),
    sshKeys: Type.Optional(Type.Array(Type.String({ maxLength: 16_384 }), { maxItems: 32 })),
    userData: Type.Optional(Type.String({ maxLength: 16_384 })),
  },
  closed,
)

const leadsTo = (to: PowerState, now: PowerState): boolean =>
  now !== to && commandTo(to, now) !== undefined

/** All goals that the cloud can set for a host. No goal contains a path, a command or XML. */
export const goals = {
  image: life(
    'begins',
    'The image with this SHA-256 is in the host’s cache; it is fetched from a cell and verified.',
    Type.Object({ goal: Type.Literal('image'), digest: Digest }, closed),
  ),
  defined: life(
    'begins',
    'The VM exists with this spec; if this goal creates it, the guest gets the seed.',
    Type.Object(
      { goal: Type.Literal('defined'), spec: VmSpec, seed: Type.Optional(GuestSeed) },
      closed,
    ),
  ),
  cloned: life(
    'begins',
    'The VM exists with this spec; its disk is a clone of the disk of another VM on this host, which was off.',
    Type.Object(
      {
        goal: Type.Literal('cloned'),
        spec: VmSpec,
        seed: Type.Optional(GuestSeed),
        source: Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$' }),
      },
      closed,
    ),
  ),
  power: change(
    'The VM has this power state.',
    Type.Object({ goal: Type.Literal('power'), to: Type.Enum(['off', 'on', 'suspended']) }, closed),
    ({ to }) => ({ from: powerStates.filter((now) => leadsTo(to, now)), to }),
  ),
  reset: change(
    'The VM was reset.',
    Type.Object({ goal: Type.Literal('reset') }, closed),
    () => powerRules.reset,
    { repeatable: false },
  ),
  shutdown: change(
    'The guest was asked to shut down, and did.',
    Type.Object({ goal: Type.Literal('shutdown') }, closed),
    () => powerRules.shutdown,
  ),
  noSavedState: change(
    'The VM is off; the saved memory of a suspended guest is discarded.',
    Type.Object({ goal: Type.Literal('noSavedState') }, closed),
    () => ({ from: ['suspended', 'paused'], to: 'off' }),
  ),
  reboot: change(
    'The guest was asked to reboot.',
    Type.Object({ goal: Type.Literal('reboot') }, closed),
    () => powerRules.reboot,
    { repeatable: false },
  ),
  nested: change(
    'Nested virtualisation is allowed or not, from the next start of the guest on.',
    Type.Object({ goal: Type.Literal('nested'), to: Type.Boolean() }, closed),
    ({ to }) => ({ from: lifecycleRules.nest, sets: { nested: to } }),
  ),
  snapshotted: change(
    'The VM has this snapshot and no other; with the memory of a running guest if `memory` is true.',
    Type.Object(
      { goal: Type.Literal('snapshotted'), name: SnapshotName, memory: Type.Boolean() },
      closed,
    ),
    () => ({ from: lifecycleRules.snapshot }),
  ),
  reverted: change(
    'The VM is in the state of this snapshot.',
    Type.Object({ goal: Type.Literal('reverted'), name: SnapshotName }, closed),
    () => ({ from: lifecycleRules.revert }),
  ),
  noSnapshots: change(
    'The VM has no snapshot.',
    Type.Object({ goal: Type.Literal('noSnapshots') }, closed),
    () => ({ from: powerStates }),
  ),
  adopted: life(
    'begins',
    'The VM exists; its lost order record starts again with this order.',
    Type.Object({ goal: Type.Literal('adopted'), spec: VmSpec }, closed),
  ),
  gone: life(
    'ends',
    'The VM and its disks are deleted; a tombstone remains.',
    Type.Object({ goal: Type.Literal('gone') }, closed),
  ),
} as const

export type Goals = typeof goals
export type GoalName = keyof Goals

/** {goal: 'power', to: 'on'} */
export type Goal = { [Name in GoalName]: Readonly<Static<Goals[Name]['shape']>> }[GoalName]
