import { useState } from 'react'

import type { AdminDocument, OrgRolesDocument, UserDocument } from '../../api/documents.ts'
import { FormDialog } from '../../components/dialog.tsx'
import { SelectField, TextField } from '../../components/field.tsx'
import { useChange } from '../../data/use-change.ts'
import { useDocument } from '../../data/use-documents.ts'

const DEFAULT_ROLE = 'author'

interface UserDialogProps {
  /** undefined: a new user. */
  readonly user: UserDocument | undefined
  readonly href: string
  /** The roles that the organisation has of its own. */
  readonly rolesHref: string | undefined
  readonly onClose: () => void
}

export function UserDialog({ user, href, rolesHref, onClose }: UserDialogProps) {
  const [name, setName] = useState(user?.name ?? '')
  const [role, setRole] = useState(user?.role?.name ?? DEFAULT_ROLE)
  const [password, setPassword] = useState('')
  const { data } = useDocument<AdminDocument>('/api/admin')
  const { data: own } = useDocument<OrgRolesDocument>(rolesHref)
  const roles = [...(data?.roles?.role ?? []), ...(own?.orgRole ?? [])].map(({ name }) => name)
  const { makeChange, isPending } = useChange()
  const submit = (): void =>
    makeChange({
      href,
      method: user ? 'PUT' : 'POST',
      body: {
        ...(!user && { name }),
        role: { name: role },
        ...(password !== '' && { password }),
      },
      success: user ? `Changed ${name}` : `Added ${name}`,
      failure: user ? `${name} was not changed` : `${name} was not added`,
      onDone: onClose,
    })
  const reason = isPending
    ? 'the change is being sent'
    : name === ''
      ? 'the user needs a name'
      : !user && password === ''
        ? 'a new user needs a password'
        : undefined
  return (
    <FormDialog
      title={user ? `Change ${user.name}` : 'Add user'}
      onClose={onClose}
      onSubmit={submit}
      action={user ? 'Save changes' : 'Add user'}
      unavailable={reason}
    >
      {!user && (
        <TextField label="Name" value={name} onChange={(event) => setName(event.target.value)} />
      )}
      <SelectField
        label="Role"
        value={role}
        options={roles.map((value) => ({ value, text: value }))}
        onChange={setRole}
      />
      <TextField
        label={user ? 'New password' : 'Password'}
        type="password"
        autoComplete="new-password"
        hint={user ? 'Leave it empty to keep the password.' : 'At least 8 characters.'}
        value={password}
        onChange={(event) => setPassword(event.target.value)}
      />
    </FormDialog>
  )
}
