import { useState } from 'react'

import { pathOf } from '../../api/client.ts'
import { shareLevels, type AccessLevel } from '../../api/sharing-documents.ts'
import { CommandChoice } from '../../components/command-line.tsx'
import { FormDialog } from '../../components/dialog.tsx'
import { SelectField, TextField, Tiles } from '../../components/field.tsx'
import { useShareChange } from '../../data/sharing/use-share-change.ts'
import { useShareSubjects, type ShareSubjects } from '../../data/sharing/use-share-subjects.ts'
import { curlCommand } from '../../model/commands.ts'
import {
  controlAccessOf,
  isSameSubject,
  shareCommand,
  withShare,
  type Share,
  type ShareAccess,
  type SharedItem,
  type ShareSubject,
  type SubjectKind,
} from '../../model/sharing.ts'
import { sharingText } from '../../text/sharing.ts'
import { SuggestField } from './suggest-field.tsx'

interface ShareDialogProps {
  readonly object: SharedItem
  readonly access: ShareAccess
  /** What is shared now. */
  readonly shares: readonly Share[]
  /** undefined: a new one. */
  readonly share: Share | undefined
  readonly onClose: () => void
}

function subjectOf(kind: SubjectKind, name: string, provider: string): ShareSubject {
  if (kind === 'everyone') return { kind }
  return kind === 'user' ? { kind, name } : { kind, name, provider }
}

const kinds: readonly SubjectKind[] = ['user', 'group', 'everyone']

/** A subject that has a share already gets another level. */
export function ShareDialog({ object, access, shares, share, onClose }: ShareDialogProps) {
  const [kind, setKind] = useState<SubjectKind>('user')
  const [name, setName] = useState('')
  const [chosenProvider, setProvider] = useState('')
  const [level, setLevel] = useState<AccessLevel>(share?.level ?? 'ReadOnly')
  const { send, isPending } = useShareChange(access)
  const { users, providers, isReading } = useShareSubjects()
  const known = providers?.find((each) => each.name === chosenProvider) ?? providers?.[0]
  const provider = providers ? (known?.name ?? '') : chosenProvider
  // Without an identity server there are no groups.
  const canChoose = (each: SubjectKind): boolean => each !== 'group' || providers?.length !== 0
  const subject = share?.subject ?? subjectOf(kind, name, provider)
  const subjectName = sharingText.subject(subject)
  const wanted: Share = { subject, level }
  const before = share ? undefined : shares.find((each) => isSameSubject(each.subject, subject))
  const hint = before && `Has this access now: ${sharingText.level[before.level]}.`
  const submit = (): void =>
    send({
      change: (now) => withShare(now, wanted),
      success: `${object.name} is shared with ${subjectName}`,
      failure: `${object.name} was not shared with ${subjectName}`,
      onDone: onClose,
    })
  const reason = isPending
    ? 'the change is being sent'
    : subject.kind !== 'everyone' && subject.name === ''
      ? `enter the name of a ${subject.kind}`
      : subject.kind === 'group' && subject.provider === ''
        ? 'enter the name of the identity server'
        : undefined
  return (
    <FormDialog
      title={share ? `Access of ${subjectName} to ${object.name}` : `Share ${object.name}`}
      onClose={onClose}
      onSubmit={submit}
      action={share ? 'Save changes' : 'Share'}
      unavailable={reason}
    >
      {!share && (
        <Tiles
          legend="With"
          value={kind}
          options={kinds.filter(canChoose).map((value) => ({
            value,
            text: sharingText.subjectKind[value],
            more: sharingText.subjectMeaning[value],
          }))}
          onChange={(next) => {
            setKind(next)
            setName('')
          }}
        />
      )}
      {!share && kind === 'user' && (
        <SuggestField
          label="User"
          hint={hint}
          value={name}
          suggestions={users}
          onChange={setName}
        />
      )}
      {!share && kind === 'group' && (
        <GroupFields
          name={name}
          hint={hint}
          provider={provider}
          providers={providers}
          isReading={isReading}
          onName={setName}
          onProvider={setProvider}
        />
      )}
      <Tiles
        legend="Access"
        value={level}
        options={shareLevels.map((value) => ({
          value,
          text: sharingText.level[value],
          more: sharingText.meaning[object.kind][value],
        }))}
        onChange={setLevel}
      />
      {reason === undefined && (
        <CommandChoice
          skerry={shareCommand(object, wanted)}
          curl={curlCommand(
            'POST',
            pathOf(access.changeHref ?? ''),
            controlAccessOf(withShare(shares, wanted)),
          )}
        />
      )}
    </FormDialog>
  )
}

interface GroupFieldsProps {
  readonly name: string
  readonly hint: string | undefined
  readonly provider: string
  readonly providers: ShareSubjects['providers']
  readonly isReading: boolean
  readonly onName: (name: string) => void
  readonly onProvider: (provider: string) => void
}

function GroupFields(props: GroupFieldsProps) {
  const { name, hint, provider, providers, isReading, onName, onProvider } = props
  const groups = providers?.find((each) => each.name === provider)?.groups ?? []
  return (
    <>
      {providers && providers.length > 1 && (
        <SelectField
          label="Identity server"
          value={provider}
          options={providers.map((each) => ({ value: each.name, text: each.name }))}
          onChange={onProvider}
        />
      )}
      {!providers && !isReading && (
        <TextField
          label="Identity server"
          hint="The name that it has in the organisation, such as corp."
          value={provider}
          onChange={(event) => onProvider(event.target.value)}
        />
      )}
      <SuggestField
        label="Group"
        hint={hint ?? 'A group that has a role in the organisation.'}
        value={name}
        suggestions={groups}
        onChange={onName}
      />
    </>
  )
}
