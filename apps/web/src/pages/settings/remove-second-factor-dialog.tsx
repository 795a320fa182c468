import { useState } from 'react'

import { CODE_HEADER, type SecondFactorDocument } from '../../api/second-factor-documents.ts'
import { CodeField } from '../../app/second-factors/code-field.tsx'
import { CommandChoice } from '../../components/command-line.tsx'
import { FormDialog } from '../../components/dialog.tsx'
import { useChange } from '../../data/use-change.ts'
import { shellQuoted } from '../../model/commands.ts'

interface RemoveSecondFactorDialogProps {
  readonly factor: SecondFactorDocument
  /** Confirmed second factors of the user. */
  readonly known: readonly SecondFactorDocument[]
  readonly onClose: () => void
}

/** One that is confirmed needs a code. */
export function RemoveSecondFactorDialog({
  factor,
  known,
  onClose,
}: RemoveSecondFactorDialogProps) {
  const { name, href, kind, confirmed } = factor
  const [code, setCode] = useState('')
  const { makeChange, isPending } = useChange()
  const submit = (): void =>
    makeChange({
      href,
      method: 'DELETE',
      ...(confirmed && { headers: { [CODE_HEADER]: code } }),
      success: `Removed ${name}`,
      failure: `${name} was not removed`,
      onDone: onClose,
    })
  const reason = isPending
    ? 'the second factor is being removed'
    : confirmed && code === ''
      ? 'the proof is missing'
      : undefined
  return (
    <FormDialog
      title={`Remove ${name}`}
      onClose={onClose}
      onSubmit={submit}
      action="Remove"
      icon="trash"
      unavailable={reason}
    >
      <p>
        {kind === 'PASSKEY'
          ? 'It logs you in no more: remove it from your device too. '
          : 'Its codes count no more. '}
        With the last one, the recovery codes end too.
      </p>
      {confirmed && <CodeField known={known} value={code} onChange={setCode} />}
      <CommandChoice skerry={`skerry second-factor rm ${shellQuoted(name)}`} />
    </FormDialog>
  )
}
