import type { GoalNature } from '@skerry/vm'
import { Type, type Static, type TObject } from 'typebox'

/** Something that a host can be asked to make so. Data: vmd checks it, the reference prints it. */
export interface GoalKind<Shape extends TObject> extends GoalNature {
  readonly shape: Shape
  readonly doc: string
}

function goal<Shape extends TObject>(
  doc: string,
  shape: Shape,
  nature: Partial<GoalNature> = {},
): GoalKind<Shape> {
  return { shape, doc, repeatable: true, life: 'needs', ...nature }
}

const closed = { additionalProperties: false }
const Digest = Type.String({ pattern: '^[0-9a-f]{64}$' })

const SnapshotName = Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$' })

/** What a VM is made as, and who it is for: enough to tell, from the host alone, whose it was. */
export const Deed = Type.Object(
  {
    org: Type.String({ maxLength: 64 }),
    vApp: Type.String({ maxLength: 64 }),
    name: Type.String({ minLength: 1, maxLength: 128 }),
    cpus: Type.Integer({ minimum: 1, maximum: 256 }),
    memoryMiB: Type.Integer({ minimum: 16 }),
    diskMiB: Type.Integer({ minimum: 1 }),
    image: Digest,
  },
  closed,
)
export type Deed = Static<typeof Deed>

/**
 * What the guest is told at its first start. Beside the deed and not in it: a deed is written down and told to whoever asks, and
 * this may hold secrets.
 */
export const GuestSeed = Type.Object(
  {
    hostname: Type.String({ minLength: 1, maxLength: 63 }),
    sshKeys: Type.Optional(Type.Array(Type.String({ maxLength: 16_384 }), { maxItems: 32 })),
    userData: Type.Optional(Type.String({ maxLength: 16_384 })),
  },
  closed,
)

/** All that the cloud can ask of a host. No goal names a path, a command or XML. */
export const goals = {
  image: goal(
    'The image with this SHA-256 lies here; fetched from a cell and held against it.',
    Type.Object({ be: Type.Literal('image'), digest: Digest }, closed),
    { life: 'begins' },
  ),
  defined: goal(
    'The VM is there and looks like this; its guest is told the seed, where it is made by this.',
    Type.Object(
      { be: Type.Literal('defined'), deed: Deed, seed: Type.Optional(GuestSeed) },
      closed,
    ),
    { life: 'begins' },
  ),
  cloned: goal(
    'The VM is there and looks like this; its disk began as that of another VM here, which was off.',
    Type.Object(
      {
        ...{ be: Type.Literal('cloned'), deed: Deed, seed: Type.Optional(GuestSeed) },
        source: Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$' }),
      },
      closed,
    ),
    { life: 'begins' },
  ),
  power: goal(
    'The VM has this power.',
    Type.Object({ be: Type.Literal('power'), to: Type.Enum(['off', 'on', 'suspended']) }, closed),
  ),
  reset: goal('The VM was reset.', Type.Object({ be: Type.Literal('reset') }, closed), {
    repeatable: false,
  }),
  shutdown: goal(
    'The guest was asked to shut itself down, and did.',
    Type.Object({ be: Type.Literal('shutdown') }, closed),
  ),
  discarded: goal(
    'The VM is off; what a suspended guest had in memory is thrown away.',
    Type.Object({ be: Type.Literal('discarded') }, closed),
  ),
  reboot: goal(
    'The guest was asked to start anew.',
    Type.Object({ be: Type.Literal('reboot') }, closed),
    { repeatable: false },
  ),
  nested: goal(
    'The guest may run guests of its own from its next start on, or may not.',
    Type.Object({ be: Type.Literal('nested'), to: Type.Boolean() }, closed),
  ),
  snapshotted: goal(
    'The VM has this snapshot and no other; with its memory where it runs, unless told.',
    Type.Object(
      { be: Type.Literal('snapshotted'), name: SnapshotName, memory: Type.Boolean() },
      closed,
    ),
  ),
  reverted: goal(
    'The VM is what it was when this snapshot was taken.',
    Type.Object({ be: Type.Literal('reverted'), name: SnapshotName }, closed),
  ),
  unsnapshotted: goal(
    'The VM has no snapshot.',
    Type.Object({ be: Type.Literal('unsnapshotted') }, closed),
  ),
  adopted: goal(
    'The VM is there, and what was lost of its orders begins anew with this one.',
    Type.Object({ be: Type.Literal('adopted'), deed: Deed }, closed),
    { life: 'begins' },
  ),
  gone: goal(
    'The VM and its disks are no more; a tombstone stays.',
    Type.Object({ be: Type.Literal('gone') }, closed),
    { life: 'ends' },
  ),
} as const

export type Goals = typeof goals
export type GoalName = keyof Goals

/** {be: 'power', to: 'on'} */
export type Goal = { [Name in GoalName]: Readonly<Static<Goals[Name]['shape']>> }[GoalName]
