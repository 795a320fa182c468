import { useState } from 'react'

import { CpusField, MemoryField } from '../../app/vms/hardware-fields.tsx'
import { CommandLine } from '../../components/command-line.tsx'
import { FormDialog } from '../../components/dialog.tsx'
import { SelectField, TextField } from '../../components/field.tsx'
import { notifyError } from '../../data/notifications.ts'
import { startUpload } from '../../data/uploads.ts'
import { shellQuoted } from '../../model/commands.ts'
import { formatBytes } from '../../text/format.ts'
import { uploadHref, useCatalogs } from './use-catalogs.ts'

import page from '../../styles/page.module.css'

const nameOf = (file: File): string => file.name.replace(/\.(?:qcow2|img)$/i, '')

interface UploadDialogProps {
  /** The address of the catalog that is chosen at first. */
  readonly into?: string
  readonly onClose: () => void
}

/** Chooses a disk image and starts its upload, which continues when the dialog is closed. */
export function UploadDialog({ into = '', onClose }: UploadDialogProps) {
  const catalogs = useCatalogs().filter((each) => uploadHref(each) !== undefined)
  const [chosen, setChosen] = useState(into)
  const catalog = catalogs.find(({ href }) => href === chosen) ?? catalogs[0]
  const addHref = uploadHref(catalog)
  const [file, setFile] = useState<File>()
  const [name, setName] = useState('')
  const [cpus, setCpus] = useState('1')
  const [memory, setMemory] = useState('1024')
  const submit = (): void => {
    if (!file || addHref === undefined) return
    onClose()
    startUpload(addHref, {
      file,
      name,
      cpus: Number(cpus),
      memoryMiB: Number(memory),
    }).catch((error: unknown) => notifyError(`${name} was not uploaded`, error))
  }
  const reason =
    addHref === undefined
      ? 'no catalog accepts uploads from you'
      : !file
        ? 'choose a file first'
        : name === ''
          ? 'the template needs a name'
          : undefined
  return (
    <FormDialog
      title="Upload template"
      onClose={onClose}
      onSubmit={submit}
      action="Upload"
      icon="upload"
      unavailable={reason}
    >
      <TextField
        label="Disk image"
        type="file"
        accept=".qcow2,.img"
        hint={file ? formatBytes(file.size) : 'A qcow2 file. The upload can be resumed.'}
        onChange={(event) => {
          const next = event.target.files?.[0]
          setFile(next)
          if (next) setName(nameOf(next))
        }}
      />
      <TextField label="Name" value={name} onChange={(event) => setName(event.target.value)} />
      {catalogs.length > 1 && (
        <SelectField
          label="Catalog"
          value={catalog?.href ?? ''}
          options={catalogs.map((each) => ({ value: each.href, text: each.name }))}
          onChange={setChosen}
        />
      )}
      <div className={page['pair']}>
        <CpusField max={64} value={cpus} onChange={setCpus} />
        <MemoryField value={memory} onChange={setMemory} />
      </div>
      <CommandLine
        wraps
        text={`skerry template import ${shellQuoted(file?.name ?? 'image.qcow2')} --name ${shellQuoted(name || 'my-template')}`}
      />
    </FormDialog>
  )
}
