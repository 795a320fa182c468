import { useState, type FormEvent } from 'react'
import { Link } from 'react-router'

import { pathOf } from '../../api/client.ts'
import { linkOf, type MetadataDocument } from '../../api/documents.ts'
import { paths } from '../../app/paths.ts'
import { Button } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { CommandChoice } from '../../components/command-line.tsx'
import { ConfirmDialog } from '../../components/dialog.tsx'
import { ErrorState } from '../../components/empty-state.tsx'
import { TextField } from '../../components/field.tsx'
import { Table } from '../../components/table.tsx'
import { useChange } from '../../data/use-change.ts'
import { useDocument } from '../../data/use-documents.ts'
import { curlCommand } from '../../model/commands.ts'
import { labelCommand, removeLabelCommand } from '../../model/networks/network-commands.ts'

import page from '../../styles/page.module.css'

type Entry = NonNullable<MetadataDocument['metadataEntry']>[number]

interface MetadataTabProps {
  readonly href: string
  /** The name of the VM: `skerry` labels VMs, and no vApps. */
  readonly vm?: string
}

/** Notes as key and value, of a VM or a vApp. Those of a VM are the labels by which security groups choose it. */
export function MetadataTab({ href, vm }: MetadataTabProps) {
  const { data, error, refetch } = useDocument<MetadataDocument>(href)
  const [removed, setRemoved] = useState<Entry>()
  const { makeChange } = useChange()
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />
  const canEdit = linkOf(data, 'add') !== undefined
  const remove = ({ key }: Entry): void => {
    setRemoved(undefined)
    makeChange({
      href: entryPath(href, key),
      method: 'DELETE',
      success: `Deleted ${key}`,
      failure: `${key} was not deleted`,
    })
  }
  return (
    <div className={page['stack']}>
      <Card title="Metadata" flush>
        <Table
          label="Metadata"
          rows={data?.metadataEntry ?? []}
          keyOf={({ key }) => key}
          empty="No metadata. Add a key and a value, for example owner and a name."
          columns={[
            {
              key: 'key',
              title: 'Key',
              width: '16rem',
              isEssential: true,
              cell: (entry) => <span className={page['strong']}>{entry.key}</span>,
            },
            {
              key: 'value',
              title: 'Value',
              isEssential: true,
              cell: (entry) => entry.typedValue?.value,
            },
            {
              key: 'tools',
              title: 'Actions',
              isTitleHidden: true,
              isNumeric: true,
              isEssential: true,
              cell: (entry) =>
                canEdit && (
                  <Button
                    small
                    tone="plain"
                    icon="trash"
                    label={`Delete ${entry.key}`}
                    onClick={() => setRemoved(entry)}
                  />
                ),
            },
          ]}
        />
      </Card>
      {canEdit && <AddEntry href={href} vm={vm} />}
      {removed && (
        <ConfirmDialog
          title={`Delete ${removed.key}`}
          action="Delete"
          onClose={() => setRemoved(undefined)}
          onConfirm={() => remove(removed)}
        >
          <p>The value {removed.typedValue?.value} is deleted.</p>
          <CommandChoice
            skerry={vm === undefined ? undefined : removeLabelCommand(vm, removed.key)}
            curl={curlCommand('DELETE', entryPath(href, removed.key))}
          />
        </ConfirmDialog>
      )}
    </div>
  )
}

const entryPath = (href: string, key: string): string =>
  `${pathOf(href)}/${encodeURIComponent(key)}`

interface AddEntryProps {
  readonly href: string
  readonly vm: string | undefined
}

function AddEntry({ href, vm }: AddEntryProps) {
  const [key, setKey] = useState('')
  const [value, setValue] = useState('')
  const { makeChange } = useChange()
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    makeChange({
      href: entryPath(href, key),
      method: 'PUT',
      body: { value },
      success: `Saved ${key}`,
      failure: `${key} was not saved`,
      onDone: () => {
        setKey('')
        setValue('')
      },
    })
  }
  return (
    <Card title="Add or change an entry">
      <form className={page['fields']} onSubmit={submit}>
        <div className={page['pair']}>
          <TextField label="Key" value={key} onChange={(event) => setKey(event.target.value)} />
          <TextField
            label="Value"
            value={value}
            onChange={(event) => setValue(event.target.value)}
          />
        </div>
        {vm !== undefined && (
          <p className={page['small']}>
            Entries of a VM are its labels.{' '}
            <Link className={page['link']} to={paths.securityGroups}>
              Security groups
            </Link>{' '}
            apply to VMs by their labels.
          </p>
        )}
        {key !== '' && (
          <CommandChoice
            skerry={vm === undefined ? undefined : labelCommand(vm, key, value)}
            curl={curlCommand('PUT', entryPath(href, key), { value })}
          />
        )}
        <div>
          <Button
            type="submit"
            icon="plus"
            unavailable={key === '' ? 'an entry needs a key' : undefined}
          >
            Save entry
          </Button>
        </div>
      </form>
    </Card>
  )
}
