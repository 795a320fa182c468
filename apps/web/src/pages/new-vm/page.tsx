import { useState, type FormEvent } from 'react'
import { useNavigate } from 'react-router'

import { idOf, pathOf } from '../../api/client.ts'
import { linkOf } from '../../api/documents.ts'
import type { TemplateRecord } from '../../api/query.ts'
import { CreateButtons } from '../../app/create-buttons.tsx'
import { usePageTitle } from '../../app/page-title.ts'
import { paths } from '../../app/paths.ts'
import { useSearch } from '../../app/use-search.ts'
import { useVdc } from '../../app/use-vdc.ts'
import { Card } from '../../components/card.tsx'
import { CommandLine } from '../../components/command-line.tsx'
import { CheckField, SelectField, TextArea, TextField, Tiles } from '../../components/field.tsx'
import { notify, notifyError } from '../../data/notifications.ts'
import { queryClient } from '../../data/query-client.ts'
import { useSession } from '../../data/session.ts'
import { useRecords } from '../../data/use-record-list.ts'
import { createCommand, curlCommand } from '../../model/commands.ts'
import { textParam } from '../../model/search-params.ts'
import { en } from '../../text/en.ts'
import { formatMiB } from '../../text/format.ts'
import { composeBody, createVm, type NewVmRequest } from './create-vm.ts'
import { NetworksField } from './networks-field.tsx'

import page from '../../styles/page.module.css'

const schema = { template: textParam(), vdc: textParam() }
const NAME = /^[A-Za-z0-9][\w.-]{0,62}$/

const sizes = [
  { cpus: 1, memoryMiB: 1024 },
  { cpus: 2, memoryMiB: 2048 },
  { cpus: 2, memoryMiB: 4096 },
  { cpus: 4, memoryMiB: 8192 },
  { cpus: 8, memoryMiB: 16_384 },
] as const
const AS_TEMPLATE = -1

export function NewVmPage() {
  usePageTitle({ text: 'Virtual machines', to: paths.vms }, { text: 'Create VM' })
  const [search] = useSearch(schema)
  const [vdcHref, setVdcHref] = useState(search.vdc)
  const [templateName, setTemplateName] = useState(search.template)
  const { vdcs, vdc } = useVdc(vdcHref)
  const templates = useRecords('vAppTemplate', { sort: 'name' }).data?.records ?? []
  const template = templates.find(({ name }) => name === templateName) ?? templates[0]
  const [name, setName] = useState('')
  const [size, setSize] = useState(AS_TEMPLATE)
  const [sshKey, setSshKey] = useState('')
  const [start, setStart] = useState(true)
  const [networks, setNetworks] = useState<readonly string[]>([])
  const wanted = template && wantedVm({ name, template, size, sshKey, networks, start })
  const composeHref = linkOf(vdc, 'add', 'composeVAppParams')
  const { create, isPending } = useCreate()
  const whyNot = useReason(name, wanted, vdc && (composeHref ?? ''))
  const reason = isPending ? 'the VM is being created' : whyNot
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    if (reason !== undefined || !wanted || composeHref === undefined) return
    void create(composeHref, wanted)
  }
  return (
    <div className={`${page['page']} ${page['scrolling']}`}>
      <form className={`${page['columns']} ${page['form']}`} onSubmit={submit}>
        <div className={page['stack']}>
          <Card>
            <div className={page['fields']}>
              <TextField
                label="Name"
                placeholder="web-1"
                autoFocus
                value={name}
                hint="Also the host name in the guest."
                error={
                  name === '' || NAME.test(name)
                    ? undefined
                    : 'Letters, digits, ".", "_" and "-", and a letter or digit first.'
                }
                onChange={(event) => setName(event.target.value)}
              />
              {vdcs.length > 1 && (
                <SelectField
                  label="Data centre"
                  value={vdc?.href ?? ''}
                  options={vdcs.map((each) => ({ value: each.href, text: each.name }))}
                  onChange={(href) => {
                    setVdcHref(href)
                    setNetworks([])
                  }}
                />
              )}
              <Tiles
                legend="Template"
                value={template?.name ?? ''}
                options={templates.map((each) => ({
                  value: each.name,
                  text: each.name,
                  more: `${formatMiB(each.diskMB)} disk`,
                }))}
                onChange={setTemplateName}
              />
              <Tiles
                legend="Size"
                value={size}
                options={[
                  { value: AS_TEMPLATE, text: 'As template', more: sizeText(template) },
                  ...sizes.map(({ cpus, memoryMiB }, value) => ({
                    value,
                    text: `${cpus} CPU`,
                    more: formatMiB(memoryMiB),
                  })),
                ]}
                onChange={setSize}
              />
              <NetworksField
                available={(vdc?.availableNetworks?.network ?? []).map((each) => each.name)}
                chosen={networks}
                onChange={setNetworks}
              />
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
        {wanted && <TerminalCard wanted={wanted} composeHref={composeHref} />}
      </form>
    </div>
  )
}

const sizeText = (template: TemplateRecord | undefined): string =>
  template ? `${template.numberOfCpus} CPU, ${formatMiB(template.memoryMB)}` : ''

interface FormValues {
  readonly name: string
  readonly template: TemplateRecord
  readonly size: number
  readonly sshKey: string
  readonly networks: readonly string[]
  readonly start: boolean
}

const wantedVm = ({ template, size, sshKey, ...others }: FormValues): NewVmRequest => ({
  ...others,
  template,
  cpus: sizes[size]?.cpus ?? template.numberOfCpus,
  memoryMiB: sizes[size]?.memoryMiB ?? template.memoryMB,
  sshKeys: sshKey.split('\n').filter((line) => line.trim() !== ''),
})

function useReason(
  name: string,
  wanted: NewVmRequest | undefined,
  /** '': the data centre has none. undefined: it is not loaded yet. */
  composeHref: string | undefined,
): string | undefined {
  const { rights, role } = useSession()
  if (!rights.has('vm:edit')) return en.missingRight(role, 'vm:edit')
  if (!wanted) return 'there is no template yet; upload one first'
  if (composeHref === undefined) return 'the data centre is not loaded yet'
  if (composeHref === '') return 'the data centre does not accept new VMs'
  return NAME.test(name) ? undefined : 'the VM needs a name'
}

function useCreate() {
  const navigate = useNavigate()
  const [isPending, setPending] = useState(false)
  const create = async (composeHref: string, wanted: NewVmRequest): Promise<void> => {
    setPending(true)
    try {
      const href = await createVm(composeHref, wanted)
      notify({ tone: 'progress', title: `Creating ${wanted.name}` })
      void navigate(paths.vm(idOf(href)))
    } catch (error) {
      notifyError(`${wanted.name} was not created`, error)
    }
    setPending(false)
    void queryClient.invalidateQueries()
  }
  return { create, isPending }
}

function TerminalCard({
  wanted,
  composeHref,
}: {
  readonly wanted: NewVmRequest
  readonly composeHref: string | undefined
}) {
  const named = { ...wanted, name: wanted.name === '' ? 'web-1' : wanted.name }
  const command = createCommand({
    ...named,
    template: wanted.template.name,
    hasSshKey: wanted.sshKeys.length > 0,
  })
  return (
    <Card title="On a terminal">
      <div className={page['stack']}>
        <p className={page['soft']}>The same as a command.</p>
        <CommandLine wraps text={command} />
        {composeHref !== undefined && (
          <CommandLine wraps text={curlCommand('POST', pathOf(composeHref), composeBody(named))} />
        )}
      </div>
    </Card>
  )
}
