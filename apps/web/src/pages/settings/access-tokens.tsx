import { useState } from 'react'

import type { AccessTokenDocument, AccessTokensDocument } from '../../api/documents.ts'
import { Button } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { CommandLine } from '../../components/command-line.tsx'
import { ConfirmDialog, Dialog, FormDialog } from '../../components/dialog.tsx'
import { TextField } from '../../components/field.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import { Table } from '../../components/table.tsx'
import { useChange } from '../../data/use-change.ts'
import { useDocument } from '../../data/use-documents.ts'

const TOKENS = '/api/session/tokens'

/** API tokens for scripts. The secret is shown once, when a token is created. */
export function AccessTokens() {
  const { data } = useDocument<AccessTokensDocument>(TOKENS)
  const [isAdding, setAdding] = useState(false)
  const [revoked, setRevoked] = useState<AccessTokenDocument>()
  const { makeChange } = useChange()
  const revoke = ({ href, name }: AccessTokenDocument): void => {
    setRevoked(undefined)
    makeChange({
      href,
      method: 'DELETE',
      success: `Revoked ${name}`,
      failure: `${name} was not revoked`,
    })
  }
  return (
    <Card
      title="API tokens"
      flush
      tools={
        <Button small icon="plus" onClick={() => setAdding(true)}>
          Create token
        </Button>
      }
    >
      <Table
        label="API tokens"
        rows={data?.accessToken ?? []}
        keyOf={({ href }) => href}
        empty="No tokens. A script that uses a token needs no password, and a token can be revoked."
        columns={[
          { key: 'name', title: 'Name', isEssential: true, cell: ({ name }) => name },
          {
            key: 'created',
            title: 'Created',
            cell: ({ dateCreated }) => <RelativeTime time={dateCreated} />,
          },
          {
            key: 'used',
            title: 'Last used',
            cell: ({ lastUsed }) =>
              lastUsed === undefined ? '–' : <RelativeTime time={lastUsed} />,
          },
          {
            key: 'tools',
            title: 'Actions',
            isTitleHidden: true,
            isNumeric: true,
            isEssential: true,
            cell: (token) => (
              <Button small tone="plain" icon="trash" onClick={() => setRevoked(token)}>
                Revoke
              </Button>
            ),
          },
        ]}
      />
      {isAdding && <AddTokenDialog onClose={() => setAdding(false)} />}
      {revoked && (
        <ConfirmDialog
          title={`Revoke ${revoked.name}`}
          action="Revoke"
          icon="trash"
          onClose={() => setRevoked(undefined)}
          onConfirm={() => revoke(revoked)}
        >
          <p>
            Scripts that use this token are refused from now on, and sessions that began with it
            end.
          </p>
        </ConfirmDialog>
      )}
    </Card>
  )
}

function AddTokenDialog({ onClose }: { readonly onClose: () => void }) {
  const [name, setName] = useState('')
  const [token, setToken] = useState<string>()
  const { makeChange, isPending } = useChange<AccessTokenDocument>()
  if (token !== undefined)
    return (
      <Dialog
        title={`Token ${name}`}
        onClose={onClose}
        footer={<Button onClick={onClose}>Close</Button>}
      >
        <p>Copy the token now. It is not shown again.</p>
        <CommandLine prompt="" wraps text={token} />
        <CommandLine text="skerry login work --token-stdin" />
      </Dialog>
    )
  return (
    <FormDialog
      title="Create API token"
      onClose={onClose}
      onSubmit={() =>
        makeChange({
          href: TOKENS,
          method: 'POST',
          body: { name },
          success: `Created ${name}`,
          failure: `${name} was not created`,
          onDone: (created) => setToken(created.token ?? ''),
        })
      }
      action="Create token"
      icon="key"
      unavailable={
        isPending
          ? 'the token is being created'
          : name === ''
            ? 'the token needs a name'
            : undefined
      }
    >
      <p>
        The token has your rights until it is revoked. Programs accept it wherever they ask for your
        password.
      </p>
      <TextField
        label="Name"
        placeholder="nightly-backup"
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
    </FormDialog>
  )
}
