import { useState } from 'react'

import type { OrgRoleDocument } from '../../../api/documents.ts'
import { FormDialog } from '../../../components/dialog.tsx'
import { CheckField, TextField } from '../../../components/field.tsx'
import { useSession } from '../../../data/session.ts'
import { useChange } from '../../../data/use-change.ts'
import { rightLabels, type RoleRight } from './right-labels.ts'

interface RoleDialogProps {
  /** undefined: a new role. */
  readonly role: OrgRoleDocument | undefined
  readonly href: string
  readonly onClose: () => void
}

/** No one gives a right that they lack: it is not offered. */
export function RoleDialog({ role, href, onClose }: RoleDialogProps) {
  const { rights } = useSession()
  const [name, setName] = useState(role?.name ?? '')
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set(role?.right))
  const { makeChange, isPending } = useChange()
  const offered = (Object.keys(rightLabels) as RoleRight[]).filter((each) => rights.has(each))
  const right = offered.filter((each) => chosen.has(each))
  const submit = (): void =>
    makeChange({
      href,
      method: role ? 'PUT' : 'POST',
      body: { ...(!role && { name }), right },
      success: role ? `Changed ${name}` : `Added ${name}`,
      failure: role ? `${name} was not changed` : `${name} was not added`,
      onDone: onClose,
    })
  const choose = (each: string, isChosen: boolean): void => {
    const others = [...chosen].filter((one) => one !== each)
    setChosen(new Set(isChosen ? [...others, each] : others))
  }
  const reason = isPending
    ? 'the change is being sent'
    : name === ''
      ? 'the role needs a name'
      : right.length === 0
        ? 'the role needs a right'
        : undefined
  return (
    <FormDialog
      title={role ? `Change ${name}` : 'Add role'}
      onClose={onClose}
      onSubmit={submit}
      action={role ? 'Save changes' : 'Add role'}
      unavailable={reason}
    >
      {!role && (
        <TextField
          label="Name"
          placeholder="operator"
          hint="It never changes. Lower-case letters, digits, single spaces and -."
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
      )}
      {offered.map((each) => (
        <CheckField
          key={each}
          label={`${rightLabels[each]} (${each})`}
          checked={chosen.has(each)}
          onChange={(isChosen) => choose(each, isChosen)}
        />
      ))}
    </FormDialog>
  )
}
