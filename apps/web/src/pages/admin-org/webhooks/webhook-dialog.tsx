import { useState } from 'react'

import type { WebhookDocument } from '../../../api/documents.ts'
import { Button } from '../../../components/button.tsx'
import { CommandLine } from '../../../components/command-line.tsx'
import { Dialog, FormDialog } from '../../../components/dialog.tsx'
import { TextField } from '../../../components/field.tsx'
import { useChange } from '../../../data/use-change.ts'

interface WebhookDialogProps {
  /** undefined: a new webhook. */
  readonly webhook: WebhookDocument | undefined
  readonly href: string
  readonly onClose: () => void
}

/** The secret is shown once, when a webhook is created. */
export function WebhookDialog({ webhook, href, onClose }: WebhookDialogProps) {
  const [name, setName] = useState(webhook?.name ?? '')
  const [url, setUrl] = useState(webhook?.url ?? '')
  const [kinds, setKinds] = useState((webhook?.kind ?? []).join(' '))
  const [secret, setSecret] = useState<string>()
  const { makeChange, isPending } = useChange<WebhookDocument>()
  if (secret !== undefined)
    return (
      <Dialog
        title={`Secret of ${name}`}
        onClose={onClose}
        footer={<Button onClick={onClose}>Close</Button>}
      >
        <p>Copy the secret into the receiver now. It is not shown again.</p>
        <CommandLine prompt="" wraps text={secret} />
        <CommandLine text={`skerry webhook test ${name}`} />
      </Dialog>
    )
  const submit = (): void =>
    makeChange({
      href,
      method: webhook ? 'PUT' : 'POST',
      body: {
        ...(!webhook && { name }),
        url,
        kind: kinds.split(/[\s,]+/).filter((kind) => kind !== ''),
      },
      success: webhook ? `Changed ${name}` : `Added ${name}`,
      failure: webhook ? `${name} was not changed` : `${name} was not added`,
      onDone: (done) => (webhook ? onClose() : setSecret(done.secret ?? '')),
    })
  const reason = isPending
    ? 'the change is being sent'
    : name === ''
      ? 'the webhook needs a name'
      : url === ''
        ? 'the webhook needs a URL'
        : undefined
  return (
    <FormDialog
      title={webhook ? `Change ${name}` : 'Add webhook'}
      onClose={onClose}
      onSubmit={submit}
      action={webhook ? 'Save changes' : 'Add webhook'}
      unavailable={reason}
    >
      {!webhook && (
        <TextField
          label="Name"
          placeholder="siem"
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
      )}
      <TextField
        label="URL"
        type="url"
        placeholder="https://siem.example/events"
        hint="The operator of the cloud allows its server."
        value={url}
        onChange={(event) => setUrl(event.target.value)}
      />
      <TextField
        label="Kinds of events"
        placeholder="task.error user."
        hint="user. stands for all kinds that begin with it. Empty: all events are sent."
        value={kinds}
        onChange={(event) => setKinds(event.target.value)}
      />
    </FormDialog>
  )
}
