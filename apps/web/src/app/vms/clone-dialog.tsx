import { whyNotId } from '@skerry/vm/names'
import { useState } from 'react'

import { pathOf } from '../../api/client.ts'
import { CommandChoice } from '../../components/command-line.tsx'
import { FormDialog } from '../../components/dialog.tsx'
import { TextField } from '../../components/field.tsx'
import { source } from '../../data/source.ts'
import type { VmAction } from '../../model/actions.ts'
import { shellQuoted } from '../../model/commands.ts'
import { en } from '../../text/en.ts'

interface CloneDialogProps {
  readonly target: { readonly id: string; readonly name: string }
  readonly action: VmAction
  readonly onClose: () => void
  readonly onConfirm: (body: unknown) => void
}

/** Asks for the name of the new VM. Only a machine offers this: in a cloud, vApps are copied. */
export function CloneDialog({ target, action, onClose, onConfirm }: CloneDialogProps) {
  const [id, setId] = useState(`${target.id}-clone`)
  const body = { id, parentid: target.id }
  return (
    <FormDialog
      title={`${en.action.clone}: ${target.name}`}
      onClose={onClose}
      onSubmit={() => onConfirm(body)}
      action={en.action.clone}
      icon="copy"
      unavailable={id === '' ? 'the VM needs a name' : whyNotId(id)}
    >
      <p>
        The new VM has the disk of {target.name} as it is now, and the same CPUs and memory. It is
        off. {target.name} is not changed.
      </p>
      <TextField
        label="Name"
        value={id}
        hint="Letters, digits, - _ and ."
        onChange={(event) => setId(event.target.value)}
      />
      <CommandChoice
        skerry={`skerry clone ${shellQuoted(target.id)} ${shellQuoted(id || 'my-vm')}`}
        curl={source().curlLine('POST', pathOf(action.href), body)}
      />
    </FormDialog>
  )
}
