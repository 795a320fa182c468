import { whyNotGuestPath } from '@skerry/vm/names'
import { useState, type FormEvent } from 'react'

import { localPath, type LocalFolder } from '../../api/machine.ts'
import { Button } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { CommandChoice } from '../../components/command-line.tsx'
import { ErrorState } from '../../components/empty-state.tsx'
import { CheckField, TextField } from '../../components/field.tsx'
import { Table } from '../../components/table.tsx'
import { useFolders } from '../../data/machine/use-machine.ts'
import { source } from '../../data/source.ts'
import { useChange } from '../../data/use-change.ts'
import { shellQuoted } from '../../model/commands.ts'
import type { MachineVm } from '../../model/machine/machine-vm.ts'

import page from '../../styles/page.module.css'

const WRITABLE = 4
const READ_ONLY = 0

export function FoldersTab({ vm }: { readonly vm: MachineVm }) {
  const { data: folders = [], error, refetch } = useFolders(vm.id)
  const { makeChange } = useChange()
  const href = localPath('vms', vm.id, 'folders')
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />
  const remove = ({ guestPath }: LocalFolder): void =>
    makeChange({
      href: localPath('vms', vm.id, 'folders', guestPath),
      method: 'DELETE',
      success: `${guestPath} is no longer shared`,
      failure: `${guestPath} is still shared`,
    })
  const enable = (): void =>
    makeChange({
      href,
      method: 'PATCH',
      body: 'true',
      success: `Folder sharing of ${vm.name} is on`,
      failure: `Folder sharing of ${vm.name} is still off`,
    })
  return (
    <div className={page['stack']}>
      <Card
        title="Shared folders"
        flush
        tools={
          vm.sharing ? (
            <span className={page['small']}>Sharing is on</span>
          ) : (
            <Button small onClick={enable}>
              Turn sharing on
            </Button>
          )
        }
      >
        <FolderTable folders={folders} onRemove={remove} />
      </Card>
      <AddFolder vm={vm} href={href} />
    </div>
  )
}

interface FolderTableProps {
  readonly folders: readonly LocalFolder[]
  readonly onRemove: (folder: LocalFolder) => void
}

const FolderTable = ({ folders, onRemove }: FolderTableProps) => (
  <Table
    label="Shared folders"
    rows={folders}
    keyOf={({ guestPath }) => guestPath}
    empty="None. A shared folder of this machine appears in the guest below /mnt/shares."
    columns={[
      {
        key: 'name',
        title: 'In the guest',
        isEssential: true,
        cell: ({ guestPath }) => <span className={page['mono']}>/mnt/shares/{guestPath}</span>,
      },
      {
        key: 'directory',
        title: 'On this machine',
        isEssential: true,
        cell: ({ hostPath }) => <span className={page['mono']}>{hostPath}</span>,
      },
      {
        key: 'access',
        title: 'The guest may',
        cell: ({ flags }) => (flags === WRITABLE ? 'read and write' : 'read'),
      },
      {
        key: 'tools',
        title: 'Actions',
        isTitleHidden: true,
        isNumeric: true,
        isEssential: true,
        cell: (folder) => (
          <Button
            small
            tone="plain"
            icon="trash"
            label={`Stop sharing ${folder.guestPath}`}
            onClick={() => onRemove(folder)}
          />
        ),
      },
    ]}
  />
)

function AddFolder({ vm, href }: { readonly vm: MachineVm; readonly href: string }) {
  const [guestPath, setGuestPath] = useState('')
  const [hostPath, setHostPath] = useState('')
  const [isWritable, setWritable] = useState(true)
  const { makeChange, isPending } = useChange()
  const body = { guestPath, hostPath, flags: isWritable ? WRITABLE : READ_ONLY }
  const reason =
    whyNotGuestPath(guestPath) ??
    (hostPath.startsWith('/') ? undefined : 'the directory needs its whole path, from /')
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    makeChange({
      href,
      method: 'POST',
      body,
      success: `${hostPath} is shared with ${vm.name}`,
      failure: `${hostPath} was not shared`,
      onDone: () => {
        setGuestPath('')
        setHostPath('')
      },
    })
  }
  const inGuest = shellQuoted(guestPath || 'NAME')
  const here = shellQuoted(hostPath || 'DIRECTORY')
  return (
    <Card title="Share a folder">
      <form className={page['fields']} onSubmit={submit}>
        <div className={page['pair']}>
          <TextField
            label="Name in the guest"
            value={guestPath}
            onChange={(event) => setGuestPath(event.target.value)}
          />
          <TextField
            label="Directory of this machine"
            placeholder="/home/me/project"
            hint="A directory that you own."
            value={hostPath}
            onChange={(event) => setHostPath(event.target.value)}
          />
        </div>
        <CheckField label="The guest may write" checked={isWritable} onChange={setWritable} />
        <CommandChoice
          skerry={`skerry share add ${shellQuoted(vm.id)} ${inGuest} ${here} ${isWritable ? '' : '--read-only'}`.trim()}
          curl={source().curlLine('POST', href, body)}
        />
        <div>
          <Button
            type="submit"
            icon="plus"
            unavailable={isPending ? 'the folder is being shared' : reason}
          >
            Share folder
          </Button>
        </div>
      </form>
    </Card>
  )
}
