// The shares of a vApp or a catalog: who may use it beyond their role. A request replaces all of them, so a change of one is made from
// the list as it is.
import type { ApiLink, Unavailable } from '../api/documents.ts'
import type {
  AccessSettingDocument,
  ControlAccessDocument,
  AccessLevel,
} from '../api/sharing-documents.ts'
import { options, shellQuoted } from './commands.ts'

export type ShareSubject =
  | { readonly kind: 'everyone' }
  | { readonly kind: 'user'; readonly name: string }
  /** `provider`: the identity server whose group it is. */
  | { readonly kind: 'group'; readonly name: string; readonly provider: string }
export type SubjectKind = ShareSubject['kind']

export interface Share {
  readonly subject: ShareSubject
  readonly level: AccessLevel
}

export interface SharedItem {
  readonly kind: 'vapp' | 'catalog'
  readonly name: string
}

interface Shareable {
  readonly link?: readonly ApiLink[]
  readonly unavailable?: readonly Unavailable[]
}

const REL = 'controlAccess'

export interface ShareAccess {
  readonly readHref: string | undefined
  /** Where all shares are replaced; undefined: the user may not. */
  readonly changeHref: string | undefined
  /** Why the user may not. */
  readonly because: string | undefined
}

/** What a user may do with the shares of a document. */
export function shareAccessOf(document: Shareable): ShareAccess {
  const links = document.link?.filter(({ rel }) => rel === REL) ?? []
  const isAction = ({ href }: ApiLink): boolean => href.includes('/action/')
  const changeHref = links.find(isAction)?.href
  return {
    readHref: links.find((link) => !isAction(link))?.href,
    changeHref,
    because: changeHref === undefined ? becauseOf(document) : undefined,
  }
}

const becauseOf = ({ unavailable = [] }: Shareable): string =>
  unavailable.find(({ rel }) => rel === REL)?.because ?? 'your role may not share it'

const subjectOf = ({ subject }: AccessSettingDocument): ShareSubject =>
  subject.type === 'user'
    ? { kind: 'user', name: subject.name }
    : { kind: 'group', name: subject.name, provider: subject.provider ?? '' }

/** The shares, that with everyone first. */
export function sharesOf(document: ControlAccessDocument | undefined): readonly Share[] {
  const { everyoneAccessLevel: level, isSharedToEveryone = false } = document ?? {}
  const everyone: readonly Share[] =
    isSharedToEveryone && level ? [{ subject: { kind: 'everyone' }, level }] : []
  const settings = document?.accessSettings?.accessSetting ?? []
  return [
    ...everyone,
    ...settings.map((each) => ({ subject: subjectOf(each), level: each.accessLevel })),
  ]
}

/** Names one subject among those of an object. */
export const keyOfSubject = (subject: ShareSubject): string =>
  JSON.stringify(Object.values(subject))

export const isSameSubject = (one: ShareSubject, other: ShareSubject): boolean =>
  keyOfSubject(one) === keyOfSubject(other)

/** The shares with this one, instead of what its subject had. */
export const withShare = (shares: readonly Share[], share: Share): readonly Share[] =>
  shares.some(({ subject }) => isSameSubject(subject, share.subject))
    ? shares.map((each) => (isSameSubject(each.subject, share.subject) ? share : each))
    : [...shares, share]

export const withoutShare = (shares: readonly Share[], subject: ShareSubject): readonly Share[] =>
  shares.filter((each) => !isSameSubject(each.subject, subject))

/** The request that replaces all shares by these. */
export function controlAccessOf(shares: readonly Share[]): ControlAccessDocument {
  const everyone = shares.find(({ subject }) => subject.kind === 'everyone')
  const accessSetting = shares.flatMap(({ subject, level }): AccessSettingDocument[] => {
    if (subject.kind === 'everyone') return []
    const { kind: type, ...named } = subject
    return [{ subject: { type, ...named }, accessLevel: level }]
  })
  return {
    isSharedToEveryone: everyone !== undefined,
    ...(everyone && { everyoneAccessLevel: everyone.level }),
    ...(accessSetting.length > 0 && { accessSettings: { accessSetting } }),
  }
}

/** A level as `skerry` takes it. */
const levelWords = {
  ReadOnly: 'read-only',
  Change: 'change',
  FullControl: 'full-control',
} as const satisfies Record<AccessLevel, string>

const objectWords = ({ kind, name }: SharedItem): string =>
  `${kind === 'catalog' ? '--catalog ' : ''}${shellQuoted(name)}`

const optionsOf = (subject: ShareSubject) => ({
  everyone: subject.kind === 'everyone',
  user: subject.kind === 'user' ? subject.name : undefined,
  group: subject.kind === 'group' ? subject.name : undefined,
  provider: subject.kind === 'group' ? subject.provider : undefined,
})

export const shareListCommand = (object: SharedItem): string =>
  `skerry access list ${objectWords(object)}`

export const shareCommand = (object: SharedItem, { subject, level }: Share): string =>
  `skerry access set ${objectWords(object)}${options(optionsOf(subject))} --level ${levelWords[level]}`

export const unshareCommand = (object: SharedItem, subject: ShareSubject): string =>
  `skerry access rm ${objectWords(object)}${options(optionsOf(subject))}`
