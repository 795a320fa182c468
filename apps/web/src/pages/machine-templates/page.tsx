import { useState } from 'react'
import { useNavigate } from 'react-router'

import { localPath, type LocalTemplate } from '../../api/machine.ts'
import { usePageTitle } from '../../app/page-title.ts'
import { paths } from '../../app/paths.ts'
import { useSearch } from '../../app/use-search.ts'
import { Button } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { CommandChoice, CommandLine } from '../../components/command-line.tsx'
import { ConfirmDialog, FormDialog } from '../../components/dialog.tsx'
import { EmptyState, ErrorState } from '../../components/empty-state.tsx'
import { CheckField, TextField } from '../../components/field.tsx'
import { FilterBar } from '../../components/filter-bar.tsx'
import { Table } from '../../components/table.tsx'
import { startTask } from '../../data/machine/own-operations.ts'
import { useLocalTemplates } from '../../data/machine/use-machine.ts'
import { notify, notifyError } from '../../data/notifications.ts'
import { source } from '../../data/source.ts'
import { useChange } from '../../data/use-change.ts'
import { shellQuoted } from '../../model/commands.ts'
import { choiceParam } from '../../model/search-params.ts'
import { formatBytes } from '../../text/format.ts'

import page from '../../styles/page.module.css'

const schema = { import: choiceParam(['', '1'], '') }

export function MachineTemplatesPage() {
  const [search, change] = useSearch(schema)
  const { data: templates, error, refetch } = useLocalTemplates()
  const [deleted, setDeleted] = useState<LocalTemplate>()
  usePageTitle({ text: 'Templates', total: templates?.length })
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />
  return (
    <div className={`${page['page']} ${page['scrolling']}`}>
      <FilterBar
        action={
          <Button tone="primary" icon="upload" onClick={() => change({ import: '1' })}>
            Import template
          </Button>
        }
      >
        <span className={page['soft']}>A new VM gets a copy of the disk of its template.</span>
      </FilterBar>
      {templates?.length === 0 && <NoTemplates />}
      {templates && templates.length > 0 && (
        <TemplateTable templates={templates} onDelete={setDeleted} />
      )}
      {search.import !== '' && <ImportDialog onClose={() => change({ import: '' })} />}
      {deleted && <DeleteDialog template={deleted} onClose={() => setDeleted(undefined)} />}
    </div>
  )
}

const NoTemplates = () => (
  <EmptyState title="No templates yet" commands={<CommandLine text="skerry template build" />}>
    <p>
      A template is a disk image. The command builds one with Debian; any image can be imported.
    </p>
  </EmptyState>
)

interface TemplateTableProps {
  readonly templates: readonly LocalTemplate[]
  readonly onDelete: (template: LocalTemplate) => void
}

function TemplateTable({ templates, onDelete }: TemplateTableProps) {
  const navigate = useNavigate()
  return (
    <Card title="Templates of this machine" flush>
      <Table
        label="Templates"
        rows={templates}
        keyOf={({ name }) => name}
        empty=""
        columns={[
          {
            key: 'name',
            title: 'Name',
            isEssential: true,
            cell: ({ name }) => <span className={page['strong']}>{name}</span>,
          },
          {
            key: 'disk',
            title: 'Disk',
            isNumeric: true,
            cell: ({ virtualBytes }) => formatBytes(virtualBytes),
          },
          {
            key: 'file',
            title: 'On this machine',
            isNumeric: true,
            cell: ({ fileBytes }) => formatBytes(fileBytes),
          },
          {
            key: 'tools',
            title: 'Actions',
            isTitleHidden: true,
            isNumeric: true,
            isEssential: true,
            cell: (template) => (
              <>
                <Button
                  small
                  icon="plus"
                  onClick={() =>
                    void navigate(`${paths.newVm}?template=${encodeURIComponent(template.name)}`)
                  }
                >
                  Create VM
                </Button>
                <Button
                  small
                  tone="plain"
                  icon="trash"
                  label={`Delete ${template.name}`}
                  onClick={() => onDelete(template)}
                />
              </>
            ),
          },
        ]}
      />
    </Card>
  )
}

interface DeleteDialogProps {
  readonly template: LocalTemplate
  readonly onClose: () => void
}

function DeleteDialog({ template: { name }, onClose }: DeleteDialogProps) {
  const { makeChange } = useChange()
  const href = localPath('templates', name)
  const confirm = (): void => {
    onClose()
    const [success, failure] = [`Deleted ${name}`, `${name} was not deleted`]
    makeChange({ href, method: 'DELETE', success, failure })
  }
  return (
    <ConfirmDialog title={`Delete ${name}`} action="Delete" onClose={onClose} onConfirm={confirm}>
      <p>VMs that were created from it keep their disks.</p>
      <CommandChoice
        skerry={`skerry template rm ${shellQuoted(name)}`}
        curl={source().curlLine('DELETE', href)}
      />
    </ConfirmDialog>
  )
}

/** vmd reads the file itself: nothing is uploaded. */
function ImportDialog({ onClose }: { readonly onClose: () => void }) {
  const [file, setFile] = useState('')
  const [name, setName] = useState('')
  const [isDefault, setDefault] = useState(false)
  const path = isDefault ? '/api/templates?default' : '/api/templates'
  const body = { file, ...(!isDefault && { name }) }
  const submit = async (): Promise<void> => {
    onClose()
    try {
      await startTask(path, { method: 'POST', body })
      notify({ tone: 'progress', title: `Importing ${file}` })
    } catch (error) {
      notifyError(`${file} was not imported`, error)
    }
  }
  const reason = !file.startsWith('/')
    ? 'the file needs its whole path, from /'
    : name === '' && !isDefault
      ? 'the template needs a name'
      : undefined
  return (
    <FormDialog
      title="Import template"
      onClose={onClose}
      onSubmit={() => void submit()}
      action="Import"
      icon="upload"
      unavailable={reason}
    >
      <TextField
        label="File on this machine"
        placeholder="/home/me/debian-13.qcow2"
        hint="A qcow2 or raw disk image that you own."
        value={file}
        onChange={(event) => setFile(event.target.value)}
      />
      {!isDefault && (
        <TextField label="Name" value={name} onChange={(event) => setName(event.target.value)} />
      )}
      <CheckField label="Make it the default template" checked={isDefault} onChange={setDefault} />
      <CommandChoice
        skerry={`skerry template import ${shellQuoted(file === '' ? 'FILE' : file)} ${isDefault ? '--default' : ''}`.trim()}
        curl={source().curlLine('POST', path, body)}
      />
    </FormDialog>
  )
}
