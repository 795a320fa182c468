import { useState } from 'react'

import type { SecondFactorDocument } from '../../api/second-factor-documents.ts'
import { FormDialog } from '../../components/dialog.tsx'
import { TextField } from '../../components/field.tsx'
import { notify, notifyError } from '../../data/notifications.ts'
import { queryClient } from '../../data/query-client.ts'
import { CodeField } from './code-field.tsx'
import { addPasskey } from './passkeys.ts'
import { RecoveryCodesDialog } from './recovery-codes-dialog.tsx'

interface AddPasskeyDialogProps {
  /** Confirmed second factors that the user has. */
  readonly known: readonly SecondFactorDocument[]
  readonly onClose: () => void
  /** Default: the same as `onClose`. */
  readonly onAdded?: () => void
}

/** A name, then the window of the browser, and for the first second factor the recovery codes. */
export function AddPasskeyDialog({ known, onClose, onAdded = onClose }: AddPasskeyDialogProps) {
  const [name, setName] = useState('')
  const [code, setCode] = useState('')
  const [isPending, setPending] = useState(false)
  const [codes, setCodes] = useState<readonly string[]>()
  if (codes !== undefined) return <RecoveryCodesDialog codes={codes} onClose={onAdded} />
  const needsCode = known.length > 0
  const add = async (): Promise<void> => {
    setPending(true)
    try {
      const { code: made = [] } = await addPasskey(name, needsCode ? code : undefined)
      notify({ tone: 'success', title: `Added passkey ${name}` })
      if (made.length === 0) onAdded()
      else setCodes(made)
    } catch (error) {
      notifyError(`Passkey ${name} was not added`, error)
      // It counts once.
      setCode('')
    }
    setPending(false)
    void queryClient.invalidateQueries()
  }
  const reason = isPending
    ? 'the browser is making the passkey'
    : name === ''
      ? 'the passkey needs a name'
      : needsCode && code === ''
        ? 'a proof of the second factor that you have is missing'
        : undefined
  return (
    <FormDialog
      title="Add passkey"
      onClose={onClose}
      onSubmit={() => void add()}
      action="Add passkey"
      icon="key"
      unavailable={reason}
    >
      <p>
        Your device, your phone or a security key keeps a passkey, and asks for its PIN, your finger
        or your face. It logs you in here without a password and a code. From then on your password
        alone does not log in. API tokens stay as they are.
      </p>
      <TextField
        label="Name"
        placeholder="laptop"
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      {needsCode && <CodeField known={known} value={code} onChange={setCode} />}
    </FormDialog>
  )
}
