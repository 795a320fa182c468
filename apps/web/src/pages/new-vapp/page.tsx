import { useState, type FormEvent } from 'react'
import { useNavigate } from 'react-router'

import { idOf, pathOf } from '../../api/client.ts'
import { linkOf, type VAppDocument } from '../../api/documents.ts'
import { CreateButtons } from '../../app/create-buttons.tsx'
import { usePageTitle } from '../../app/page-title.ts'
import { paths } from '../../app/paths.ts'
import { useVdc } from '../../app/use-vdc.ts'
import { Button } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { CommandLine } from '../../components/command-line.tsx'
import { CheckField, SelectField, TextField } from '../../components/field.tsx'
import { useChange } from '../../data/use-change.ts'
import { useRecords } from '../../data/use-record-list.ts'
import { curlCommand } from '../../model/commands.ts'

import page from '../../styles/page.module.css'
import style from './page.module.css'

interface NewVm {
  readonly key: number
  readonly name: string
  /** Href of its template; '': the first one. */
  readonly template: string
}

/** Composes a vApp of several VMs. */
export function NewVAppPage() {
  usePageTitle({ text: 'vApps', to: paths.vapps }, { text: 'Create vApp' })
  const navigate = useNavigate()
  const [name, setName] = useState('')
  const [vdcHref, setVdcHref] = useState('')
  const [powerOn, setPowerOn] = useState(true)
  const [vms, setVms] = useState<readonly NewVm[]>([{ key: 0, name: 'web-1', template: '' }])
  const { vdcs, vdc } = useVdc(vdcHref)
  const templates = useRecords('vAppTemplate', { sort: 'name' }).data?.records ?? []
  const href = linkOf(vdc, 'add', 'composeVAppParams')
  const { makeChange, isPending } = useChange<VAppDocument>()
  const body = {
    name,
    powerOn,
    sourcedItem: vms.map((vm) => ({
      source: { href: vm.template || (templates[0]?.href ?? ''), name: vm.name },
    })),
  }
  const reason = isPending ? 'the vApp is being created' : whyNot(name, vms, vdc && (href ?? ''))
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    if (reason !== undefined || href === undefined) return
    makeChange({
      href,
      method: 'POST',
      body,
      success: `Creating ${name}`,
      failure: `${name} was not created`,
      onDone: (vapp) => void navigate(paths.vapp(idOf(vapp.href))),
    })
  }
  const changeVm = (key: number, part: Partial<NewVm>): void =>
    setVms(vms.map((vm) => (vm.key === key ? { ...vm, ...part } : vm)))
  return (
    <div className={`${page['page']} ${page['scrolling']}`}>
      <form className={`${page['columns']} ${page['form']}`} onSubmit={submit}>
        <div className={page['stack']}>
          <Card>
            <div className={page['fields']}>
              <TextField
                label="Name"
                placeholder="shop"
                autoFocus
                value={name}
                onChange={(event) => setName(event.target.value)}
              />
              {vdcs.length > 1 && (
                <SelectField
                  label="Data centre"
                  value={vdc?.href ?? ''}
                  options={vdcs.map((each) => ({ value: each.href, text: each.name }))}
                  onChange={setVdcHref}
                />
              )}
              <CheckField
                label="Start the VMs after creation"
                checked={powerOn}
                onChange={setPowerOn}
              />
            </div>
          </Card>
          <Card title="VMs">
            <div className={page['stack']}>
              {vms.map((vm, index) => (
                <div key={vm.key} className={style['vm']}>
                  <TextField
                    label={`Name of VM ${index + 1}`}
                    value={vm.name}
                    onChange={(event) => changeVm(vm.key, { name: event.target.value })}
                  />
                  <SelectField
                    label={`Template of VM ${index + 1}`}
                    value={vm.template || (templates[0]?.href ?? '')}
                    options={templates.map((each) => ({ value: each.href, text: each.name }))}
                    onChange={(template) => changeVm(vm.key, { template })}
                  />
                  <Button
                    tone="plain"
                    icon="trash"
                    label={`Remove VM ${index + 1}`}
                    unavailable={vms.length === 1 ? 'a vApp needs a VM' : undefined}
                    onClick={() => setVms(vms.filter(({ key }) => key !== vm.key))}
                  />
                </div>
              ))}
              <div>
                <Button icon="plus" onClick={() => setVms([...vms, nextVm(vms)])}>
                  Add VM
                </Button>
              </div>
            </div>
          </Card>
          <CreateButtons action="Create vApp" unavailable={reason} list={paths.vapps} />
        </div>
        {href !== undefined && (
          <Card title="On a terminal">
            <CommandLine wraps text={curlCommand('POST', pathOf(href), body)} />
          </Card>
        )}
      </form>
    </div>
  )
}

const nextVm = (vms: readonly NewVm[]): NewVm => ({
  key: Math.max(...vms.map(({ key }) => key)) + 1,
  name: `web-${vms.length + 1}`,
  template: vms.at(-1)?.template ?? '',
})

function whyNot(
  name: string,
  vms: readonly NewVm[],
  /** '': the data centre has none. undefined: it is not loaded yet. */
  href: string | undefined,
): string | undefined {
  if (href === undefined) return 'the data centre is not loaded yet'
  if (href === '') return 'the data centre does not accept new vApps, or your role may not'
  if (name === '') return 'the vApp needs a name'
  if (vms.some((vm) => vm.name === '')) return 'every VM needs a name'
  return new Set(vms.map((vm) => vm.name)).size < vms.length
    ? 'two VMs have the same name'
    : undefined
}
