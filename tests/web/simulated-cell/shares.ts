// Who may use a vApp or a catalog of the simulated cell beyond their role. No one is in a group.
import { may, type SimulatedCaller } from './callers.ts'

type Level = 'ReadOnly' | 'Change' | 'FullControl'

interface SimulatedSetting {
  readonly subject: { readonly type: string; readonly name: string; readonly provider?: string }
  readonly accessLevel: Level
}

/** As it is sent and returned: all shares of one object. */
export interface SimulatedAccess {
  readonly isSharedToEveryone: boolean
  readonly everyoneAccessLevel?: Level
  readonly accessSettings?: { readonly accessSetting?: readonly SimulatedSetting[] }
}

export type SharedKind = 'vapp' | 'catalog'

const rights = {
  vapp: {
    ReadOnly: ['vm:read'],
    Change: ['vm:read', 'vm:power', 'vm:console'],
    FullControl: ['vm:read', 'vm:power', 'vm:console', 'vm:edit'],
  },
  catalog: {
    ReadOnly: ['org:read'],
    Change: ['org:read', 'vm:edit'],
    FullControl: ['org:read', 'vm:edit'],
  },
} as const satisfies Record<SharedKind, Record<Level, readonly string[]>>

const NOT_SHARED: SimulatedAccess = { isSharedToEveryone: false }

const user = (name: string, accessLevel: Level): SimulatedSetting => ({
  subject: { type: 'user', name },
  accessLevel,
})

/** By number. The vApps are api-dev and api-stage. */
const shares: Readonly<Record<SharedKind, Map<number, SimulatedAccess>>> = {
  vapp: new Map<number, SimulatedAccess>([
    [
      0,
      {
        isSharedToEveryone: false,
        accessSettings: {
          accessSetting: [
            user('gina', 'Change'),
            {
              subject: { type: 'group', name: 'testers', provider: 'corp' },
              accessLevel: 'ReadOnly',
            },
          ],
        },
      },
    ],
    [3, { isSharedToEveryone: true, everyoneAccessLevel: 'ReadOnly' }],
  ]),
  catalog: new Map<number, SimulatedAccess>([
    [1, { isSharedToEveryone: false, accessSettings: { accessSetting: [user('gina', 'Change')] } }],
  ]),
}

export const accessTo = (kind: SharedKind, n: number): SimulatedAccess =>
  shares[kind].get(n) ?? NOT_SHARED

export const setAccess = (kind: SharedKind, n: number, access: SimulatedAccess): void =>
  void shares[kind].set(n, access)

function levelsOf({ user: name }: SimulatedCaller, access: SimulatedAccess): Level[] {
  const settings = access.accessSettings?.accessSetting ?? []
  return [
    ...(access.everyoneAccessLevel ? [access.everyoneAccessLevel] : []),
    ...settings
      .filter(({ subject }) => subject.type === 'user' && subject.name === name)
      .map(({ accessLevel }) => accessLevel),
  ]
}

/** By the role, or by a share of this object. */
export const mayAt = (
  caller: SimulatedCaller,
  right: string,
  kind: SharedKind,
  n: number,
): boolean =>
  may(caller, right) ||
  levelsOf(caller, accessTo(kind, n)).some((level) =>
    (rights[kind][level] as readonly string[]).includes(right),
  )

/** Who edits what belongs to the organisation shares it; others need full control of it. */
export const mayShare = (caller: SimulatedCaller, kind: SharedKind, n: number): boolean =>
  may(caller, 'vm:edit') || levelsOf(caller, accessTo(kind, n)).includes('FullControl')

const TYPE = 'application/vnd.skerry.cloud.controlAccess+json'

/** Links and reasons for the document of a shared object. */
export function shareLinks(
  caller: SimulatedCaller,
  kind: SharedKind,
  n: number,
  href: string,
): { readonly link: readonly object[]; readonly unavailable: readonly object[] } {
  const read = { rel: 'controlAccess', href: `${href}/controlAccess` }
  const change = { rel: 'controlAccess', type: TYPE, href: `${href}/action/controlAccess` }
  const because = 'sharing it needs the level FullControl here'
  return mayShare(caller, kind, n)
    ? { link: [read, change], unavailable: [] }
    : { link: [read], unavailable: [{ rel: 'controlAccess', because }] }
}
