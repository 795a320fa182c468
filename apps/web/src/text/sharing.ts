// Words of shares. Apart from en.ts, so that only their pages load them.
import type { AccessLevel } from '../api/sharing-documents.ts'
import type { SharedItem, ShareSubject, SubjectKind } from '../model/sharing.ts'

export const sharingText = {
  level: {
    ReadOnly: 'Read only',
    Change: 'Change',
    FullControl: 'Full control',
  } satisfies Record<AccessLevel, string>,

  /** What a level allows. */
  meaning: {
    vapp: {
      ReadOnly: 'See it and its VMs',
      Change: 'See it, start and stop its VMs, use their screens',
      FullControl: 'Do everything with it, also delete it and share it',
    },
    catalog: {
      ReadOnly: 'See it and its templates',
      Change: 'See it and upload templates to it',
      FullControl: 'Do everything with it, also share it',
    },
  } satisfies Record<SharedItem['kind'], Record<AccessLevel, string>>,

  subjectKind: { user: 'User', group: 'Group', everyone: 'Everyone' } satisfies Record<
    SubjectKind,
    string
  >,

  subjectMeaning: {
    user: 'One user of the organisation',
    group: 'Users in a group of an identity server',
    everyone: 'All users of the organisation',
  } satisfies Record<SubjectKind, string>,

  /** Who it is, in a list. */
  described: (subject: ShareSubject): string =>
    subject.kind === 'group'
      ? `Group of ${subject.provider}`
      : subject.kind === 'user'
        ? sharingText.subjectKind.user
        : sharingText.subjectMeaning.everyone,

  subject: (subject: ShareSubject): string =>
    subject.kind === 'everyone' ? sharingText.subjectKind.everyone : subject.name,

  none: {
    vapp: 'The vApp is not shared. Users whose role reaches the whole organisation see it without a share.',
    catalog:
      'The catalog is not shared. Users whose role reaches the whole organisation see it without a share.',
  } satisfies Record<SharedItem['kind'], string>,
}
