import type { Permission, RoleRights } from './roles.ts'

/** From the least to the most: each has the rights of all before it. */
export const shareLevels = ['ReadOnly', 'Change', 'FullControl'] as const
export type ShareLevel = (typeof shareLevels)[number]

const read = ['vm:read'] as const satisfies Permission[]
const use = [...read, 'vm:power', 'vm:console'] as const satisfies Permission[]

/** What a share gives: kind of object × level → rights there, as data. What is not listed is not given. */
export const shareRights = {
  /** With its VMs and tasks. */
  vapp: { ReadOnly: read, Change: use, FullControl: [...use, 'vm:edit'] },
  /** With its items, templates and uploads. */
  catalog: {
    ReadOnly: ['org:read'],
    Change: ['org:read', 'vm:edit'],
    FullControl: ['org:read', 'vm:edit'],
  },
} as const satisfies Record<string, Record<ShareLevel, readonly Permission[]>>
export type SharedKind = keyof typeof shareRights

/** The level whose holders may share the object on. */
const SHARES_ON = 'FullControl' satisfies ShareLevel

/** What shares give a user at one object, beyond the role. */
export interface SharedAccess {
  readonly level: ShareLevel
  readonly rights: readonly Permission[]
}

/** The rights of the highest of these levels; undefined: there is none. */
export function accessBy(kind: SharedKind, given: readonly ShareLevel[]): SharedAccess | undefined {
  const level = shareLevels.findLast((each) => given.includes(each))
  return level && { level, rights: shareRights[kind][level] }
}

/** Whether a share of this kind could give a right that the role lacks. */
export const addsTo = ({ rights }: Pick<RoleRights, 'rights'>, kind: SharedKind): boolean =>
  shareRights[kind].FullControl.some((each) => !rights.includes(each))

/** Who edits what belongs to the organisation shares it; others need the level for it there. */
export const sharesOn = (
  { rights }: Pick<RoleRights, 'rights'>,
  there: SharedAccess | undefined,
): boolean => rights.includes('vm:edit') || there?.level === SHARES_ON
