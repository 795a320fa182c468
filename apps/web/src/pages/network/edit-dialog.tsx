import { useState } from 'react'

import type { NetworkDocument } from '../../api/network-documents.ts'
import { FormDialog } from '../../components/dialog.tsx'
import { CheckField, TextArea, TextField } from '../../components/field.tsx'
import { useChange } from '../../data/use-change.ts'
import { NETWORK_NAME, scopeOf, whyNotScope, writtenScope } from '../../model/networks/network.ts'
import { en } from '../../text/en.ts'

import page from '../../styles/page.module.css'

interface EditDialogProps {
  readonly network: NetworkDocument
  readonly href: string
  readonly onClose: () => void
}

/** Name, name servers and pool. Router and range stay while VMs have learnt them. */
export function EditDialog({ network, href, onClose }: EditDialogProps) {
  const [name, setName] = useState(network.name)
  const [description, setDescription] = useState(network.description ?? '')
  const [isShared, setShared] = useState(network.isShared ?? false)
  const before = network.configuration?.ipScopes?.ipScope
  const [scope, setScope] = useState(writtenScope(before ?? {}))
  const { makeChange, isPending } = useChange()
  const wrong = before && whyNotScope(scope)
  const submit = (): void =>
    makeChange({
      href,
      method: 'PUT',
      body: {
        name,
        description,
        configuration: {
          ...(before && { ipScopes: { ipScope: scopeOf(scope) } }),
          fenceMode: network.configuration?.fenceMode,
        },
        isShared,
      },
      success: `Changing network ${name}`,
      failure: `Network ${name} was not changed`,
      onDone: onClose,
    })
  const reason = isPending
    ? 'the change is being sent'
    : NETWORK_NAME.test(name)
      ? wrong
      : 'the network needs a name'
  return (
    <FormDialog
      title={`Change network ${network.name}`}
      onClose={onClose}
      onSubmit={submit}
      action="Save changes"
      unavailable={reason}
    >
      <div className={page['fields']}>
        <TextField label="Name" value={name} onChange={(event) => setName(event.target.value)} />
        <TextField
          label="Description"
          value={description}
          onChange={(event) => setDescription(event.target.value)}
        />
        {before && (
          <>
            <TextArea
              label="Pool"
              rows={3}
              hint="One range per line. VMs keep the addresses that they have."
              value={scope.pool}
              error={wrong?.startsWith('the pool') ? en.sentence(wrong) : undefined}
              onChange={(event) => setScope({ ...scope, pool: event.target.value })}
            />
            <TextField
              label="Name servers"
              placeholder="9.9.9.9, 1.1.1.1"
              hint="Guests learn them with their next lease."
              value={scope.dns}
              error={wrong?.startsWith('name servers') ? en.sentence(wrong) : undefined}
              onChange={(event) => setScope({ ...scope, dns: event.target.value })}
            />
          </>
        )}
        <CheckField
          label="VMs of all data centres of the organisation may be on it"
          checked={isShared}
          onChange={setShared}
        />
      </div>
    </FormDialog>
  )
}
