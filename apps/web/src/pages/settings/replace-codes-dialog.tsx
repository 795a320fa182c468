import { useState } from 'react'

import {
  CODE_HEADER,
  type RecoveryCodesDocument,
  type SecondFactorDocument,
} from '../../api/second-factor-documents.ts'
import { CodeField } from '../../app/second-factors/code-field.tsx'
import { RecoveryCodesDialog } from '../../app/second-factors/recovery-codes-dialog.tsx'
import { CommandChoice } from '../../components/command-line.tsx'
import { FormDialog } from '../../components/dialog.tsx'
import { useChange } from '../../data/use-change.ts'

interface ReplaceCodesDialogProps {
  readonly href: string
  /** Confirmed second factors of the user. */
  readonly known: readonly SecondFactorDocument[]
  readonly onClose: () => void
}

export function ReplaceCodesDialog({ href, known, onClose }: ReplaceCodesDialogProps) {
  const [code, setCode] = useState('')
  const [codes, setCodes] = useState<readonly string[]>()
  const { makeChange, isPending } = useChange<RecoveryCodesDocument>()
  if (codes !== undefined) return <RecoveryCodesDialog codes={codes} onClose={onClose} />
  const submit = (): void =>
    makeChange({
      href,
      method: 'POST',
      headers: { [CODE_HEADER]: code },
      success: 'Made new recovery codes',
      failure: 'No new recovery codes were made',
      onDone: (made) => setCodes(made.code ?? []),
    })
  const reason = isPending
    ? 'the codes are being made'
    : code === ''
      ? 'the proof is missing'
      : undefined
  return (
    <FormDialog
      title="New recovery codes"
      onClose={onClose}
      onSubmit={submit}
      action="Make new codes"
      unavailable={reason}
    >
      <p>You get ten new codes. Those that you have count no more.</p>
      <CodeField known={known} value={code} onChange={setCode} />
      <CommandChoice skerry="skerry second-factor recovery-codes" />
    </FormDialog>
  )
}
