import { useEffect, useRef, useState, type FormEvent } from 'react'
import { useNavigate } from 'react-router'

import { CreateButtons } from '../../app/create-buttons.tsx'
import { usePageTitle } from '../../app/page-title.ts'
import { paths } from '../../app/paths.ts'
import { useSearch } from '../../app/use-search.ts'
import { CpusField, MemoryField } from '../../app/vms/hardware-fields.tsx'
import { Card } from '../../components/card.tsx'
import { CommandLine } from '../../components/command-line.tsx'
import { CheckField, SelectField, TextArea, TextField } from '../../components/field.tsx'
import { createLocalVm } from '../../data/machine/create-vm.ts'
import { useLocalTemplates } from '../../data/machine/use-machine.ts'
import { source } from '../../data/source.ts'
import { createCommand } from '../../model/commands.ts'
import { whyNotNewVm, type NewLocalVm } from '../../model/machine/machine-forms.ts'
import { textParam } from '../../model/search-params.ts'
import { formatBytes } from '../../text/format.ts'

import page from '../../styles/page.module.css'

const schema = { template: textParam('default') }

export function MachineNewVmPage() {
  usePageTitle({ text: 'Virtual machines', to: paths.vms }, { text: 'Create VM' })
  const [search] = useSearch(schema)
  const { data: templates = [] } = useLocalTemplates()
  const [chosen, setTemplate] = useState(search.template)
  const [id, setId] = useState('')
  const [cpus, setCpus] = useState('1')
  const [memory, setMemory] = useState('1024')
  const [sshKey, setSshKey] = useState('')
  const [start, setStart] = useState(true)
  const { create, isPending } = useCreate()
  const template = templates.find(({ name }) => name === chosen)?.name ?? templates[0]?.name
  const sshKeys = sshKey.split('\n').filter((line) => line.trim() !== '')
  const wanted = {
    id,
    template,
    cpus: Number(cpus),
    memoryMiB: Number(memory),
    ...(sshKeys.length > 0 && { sshKeys }),
  }
  const reason = isPending ? 'the VM is being created' : whyNotNewVm(wanted)
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    if (reason === undefined) void create(wanted, start)
  }
  return (
    <div className={`${page['page']} ${page['scrolling']}`}>
      <form className={`${page['columns']} ${page['form']}`} onSubmit={submit}>
        <div className={page['stack']}>
          <Card>
            <div className={page['fields']}>
              <TextField
                label="Name"
                value={id}
                hint="Letters, digits, - _ and ."
                onChange={(event) => setId(event.target.value)}
              />
              <SelectField
                label="Template"
                value={template ?? ''}
                options={templates.map(({ name, virtualBytes }) => ({
                  value: name,
                  text: `${name} (${formatBytes(virtualBytes)} disk)`,
                }))}
                onChange={setTemplate}
              />
              <div className={page['pair']}>
                <CpusField value={cpus} onChange={setCpus} />
                <MemoryField value={memory} onChange={setMemory} />
              </div>
              <TextArea
                label="SSH key"
                rows={3}
                placeholder="ssh-ed25519 AAAA…"
                value={sshKey}
                hint="One key per line. Without a key the console is the only way in."
                onChange={(event) => setSshKey(event.target.value)}
              />
              <CheckField label="Start the VM after creation" checked={start} onChange={setStart} />
            </div>
          </Card>
          <CreateButtons action="Create VM" unavailable={reason} list={paths.vms} />
        </div>
        <TerminalCard wanted={wanted} start={start} />
      </form>
    </div>
  )
}

function useCreate() {
  const navigate = useNavigate()
  const [isPending, setPending] = useState(false)
  const isShown = useRef(true)
  useEffect(() => {
    isShown.current = true
    return () => void (isShown.current = false)
  }, [])
  const create = async (wanted: NewLocalVm, start: boolean): Promise<void> => {
    setPending(true)
    const isCreated = await createLocalVm(wanted, start)
    // A user who has left the form meanwhile stays where they are.
    if (isCreated && isShown.current) void navigate(paths.vm(wanted.id))
    setPending(false)
  }
  return { create, isPending }
}

function TerminalCard({ wanted, start }: { readonly wanted: NewLocalVm; readonly start: boolean }) {
  const named = { ...wanted, id: wanted.id === '' ? 'my-vm' : wanted.id }
  const command = createCommand({
    name: named.id,
    template: wanted.template ?? 'default',
    cpus: wanted.cpus,
    memoryMiB: wanted.memoryMiB,
    hasSshKey: wanted.sshKeys !== undefined,
    start,
  })
  return (
    <Card title="On a terminal">
      <div className={page['stack']}>
        <p className={page['soft']}>The same as a command.</p>
        <CommandLine wraps text={command} />
        <CommandLine wraps text={source().curlLine('POST', '/api/vms', named)} />
      </div>
    </Card>
  )
}
