import { useState } from 'react'

import { linkOf } from '../../api/documents.ts'
import {
  CODE_HEADER,
  SECOND_FACTORS,
  type NewSecondFactorDocument,
  type RecoveryCodesDocument,
  type SecondFactorDocument,
} from '../../api/second-factor-documents.ts'
import { CommandChoice, CommandLine } from '../../components/command-line.tsx'
import { FormDialog } from '../../components/dialog.tsx'
import { TextField } from '../../components/field.tsx'
import { useChange } from '../../data/use-change.ts'
import { shellQuoted } from '../../model/commands.ts'
import { CodeField } from './code-field.tsx'
import { QrImage } from './qr-image.tsx'
import { RecoveryCodesDialog } from './recovery-codes-dialog.tsx'

interface AddSecondFactorDialogProps {
  /** Confirmed ones that the user has. */
  readonly known: readonly SecondFactorDocument[]
  readonly onClose: () => void
  /** Default: the same as `onClose`. */
  readonly onConfirmed?: () => void
}

/** In steps: a name, the QR code with the first code of the app, and for the first one the recovery codes. */
export function AddSecondFactorDialog(props: AddSecondFactorDialogProps) {
  const { known, onClose, onConfirmed = onClose } = props
  const [made, setMade] = useState<NewSecondFactorDocument>()
  const [codes, setCodes] = useState<readonly string[]>()
  if (codes !== undefined) return <RecoveryCodesDialog codes={codes} onClose={onConfirmed} />
  if (!made) return <NameDialog known={known} onClose={onClose} onMade={setMade} />
  const show = ({ code = [] }: RecoveryCodesDocument): void =>
    code.length === 0 ? onConfirmed() : setCodes(code)
  return <ConfirmSecondFactorDialog made={made} onClose={onClose} onConfirmed={show} />
}

interface NameDialogProps {
  readonly known: readonly SecondFactorDocument[]
  readonly onClose: () => void
  readonly onMade: (made: NewSecondFactorDocument) => void
}

function NameDialog({ known, onClose, onMade }: NameDialogProps) {
  const needsCode = known.length > 0
  const [name, setName] = useState('')
  const [code, setCode] = useState('')
  const { makeChange, isPending } = useChange<NewSecondFactorDocument>()
  const submit = (): void =>
    makeChange({
      href: SECOND_FACTORS,
      method: 'POST',
      body: { name },
      ...(needsCode && { headers: { [CODE_HEADER]: code } }),
      success: `Added ${name}; it counts after its first code`,
      failure: `${name} was not added`,
      onDone: onMade,
    })
  const reason = isPending
    ? 'the second factor is being added'
    : name === ''
      ? 'the second factor needs a name'
      : needsCode && code === ''
        ? 'a proof of the one that you have is missing'
        : undefined
  return (
    <FormDialog
      title="Add second factor"
      onClose={onClose}
      onSubmit={submit}
      action="Next"
      unavailable={reason}
    >
      <p>
        An app on your phone, such as FreeOTP or a password manager, makes a code every 30 seconds.
        From then on your password alone does not log in. API tokens stay as they are.
      </p>
      <TextField
        label="Name"
        placeholder="phone"
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      {needsCode && <CodeField known={known} value={code} onChange={setCode} />}
      {name !== '' && <CommandChoice skerry={`skerry second-factor add ${shellQuoted(name)}`} />}
    </FormDialog>
  )
}

interface ConfirmSecondFactorDialogProps {
  readonly made: NewSecondFactorDocument
  readonly onClose: () => void
  readonly onConfirmed: (codes: RecoveryCodesDocument) => void
}

function ConfirmSecondFactorDialog({ made, onClose, onConfirmed }: ConfirmSecondFactorDialogProps) {
  const { name, address, secret } = made
  const [code, setCode] = useState('')
  const { makeChange, isPending } = useChange<RecoveryCodesDocument>()
  const submit = (): void =>
    makeChange({
      href: linkOf(made, 'confirm') ?? '',
      method: 'POST',
      body: { code },
      success: `Confirmed ${name}`,
      failure: `${name} was not confirmed`,
      onDone: onConfirmed,
    })
  const reason = isPending
    ? 'the code is being checked'
    : code === ''
      ? 'the code of the app is missing'
      : undefined
  return (
    <FormDialog
      title={`Confirm ${name}`}
      onClose={onClose}
      onSubmit={submit}
      action="Confirm"
      icon="check"
      unavailable={reason}
    >
      <p>Read the code with the app, or type the secret into it. Both are shown only now.</p>
      <QrImage text={address} label={`QR code of ${name}`} />
      <CommandLine prompt="" wraps text={secret} />
      <TextField
        label="Code that the app shows"
        autoComplete="one-time-code"
        inputMode="numeric"
        value={code}
        onChange={(event) => setCode(event.target.value)}
      />
    </FormDialog>
  )
}
