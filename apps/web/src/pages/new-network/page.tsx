import { useState, type FormEvent } from 'react'
import { useNavigate } from 'react-router'

import { idOf, pathOf } from '../../api/client.ts'
import { linkOf } from '../../api/documents.ts'
import type { NetworkDocument } from '../../api/network-documents.ts'
import { CreateButtons } from '../../app/create-buttons.tsx'
import { usePageTitle } from '../../app/page-title.ts'
import { paths } from '../../app/paths.ts'
import { useVdc } from '../../app/use-vdc.ts'
import { Card } from '../../components/card.tsx'
import { CommandLine } from '../../components/command-line.tsx'
import { CheckField, SelectField, TextField, Tiles } from '../../components/field.tsx'
import { useSession } from '../../data/session.ts'
import { useChange } from '../../data/use-change.ts'
import { curlCommand, networkCommand } from '../../model/commands.ts'
import {
  isRange,
  NETWORK_NAME,
  routerOf,
  scopeOf,
  whyNotScope,
  type WrittenScope,
} from '../../model/networks/network.ts'
import { en } from '../../text/en.ts'

import page from '../../styles/page.module.css'

interface NetworkForm extends WrittenScope {
  readonly name: string
  readonly kind: 'isolated' | 'routed'
  readonly isShared: boolean
  /** Only a routed network can. */
  readonly hasIpv6: boolean
}

const initial: NetworkForm = {
  name: '',
  kind: 'isolated',
  range: '192.168.10.0/24',
  gateway: '',
  pool: '',
  dns: '',
  isShared: false,
  hasIpv6: false,
}

const bodyOf = ({ name, kind, isShared, hasIpv6, ...scope }: NetworkForm) => ({
  name,
  configuration: {
    ipScopes: { ipScope: scopeOf(scope) },
    fenceMode: kind === 'routed' ? 'natRouted' : 'isolated',
  },
  ...(isShared && { isShared }),
  ...(kind === 'routed' && hasIpv6 && { isIpv6Enabled: true }),
})

function useReason(
  form: NetworkForm,
  /** '': the data centre has none. undefined: it is not loaded yet. */
  href: string | undefined,
): string | undefined {
  const { rights, role } = useSession()
  if (!rights.has('network:edit')) return en.missingRight(role, 'network:edit')
  if (href === undefined) return 'the data centre is not loaded yet'
  if (href === '') return 'the data centre does not accept new networks'
  if (!NETWORK_NAME.test(form.name)) return 'the network needs a name'
  return whyNotScope(form)
}

export function NewNetworkPage() {
  usePageTitle({ text: 'Networks', to: paths.networks }, { text: 'Create network' })
  const [form, setForm] = useState(initial)
  const [vdcHref, setVdcHref] = useState('')
  const { vdcs, vdc } = useVdc(vdcHref)
  const href = linkOf(vdc, 'add', 'orgVdcNetwork')
  const whyNot = useReason(form, vdc && (href ?? ''))
  const navigate = useNavigate()
  const { makeChange, isPending } = useChange<NetworkDocument>()
  const reason = isPending ? 'the network is being created' : whyNot
  const change = (part: Partial<NetworkForm>): void => setForm({ ...form, ...part })
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    if (reason !== undefined || href === undefined) return
    makeChange({
      href,
      method: 'POST',
      body: bodyOf(form),
      success: `Creating network ${form.name}`,
      failure: `Network ${form.name} was not created`,
      onDone: (made) => void navigate(paths.network(idOf(made.href))),
    })
  }
  return (
    <div className={`${page['page']} ${page['scrolling']}`}>
      <form className={`${page['columns']} ${page['form']}`} onSubmit={submit}>
        <div className={page['stack']}>
          <Card>
            <div className={page['fields']}>
              <TextField
                label="Name"
                placeholder="backend"
                autoFocus
                value={form.name}
                onChange={(event) => change({ name: event.target.value })}
              />
              {vdcs.length > 1 && (
                <SelectField
                  label="Data centre"
                  value={vdc?.href ?? ''}
                  options={vdcs.map((each) => ({ value: each.href, text: each.name }))}
                  onChange={setVdcHref}
                />
              )}
              <Tiles
                legend="Kind"
                value={form.kind}
                options={(['isolated', 'routed'] as const).map((kind) => ({
                  value: kind,
                  text: en.networkKind[kind],
                  more: en.networkMeaning[kind],
                }))}
                onChange={(kind) => change({ kind })}
              />
              <ScopeFields form={form} onChange={change} />
              {form.kind === 'routed' && (
                <CheckField
                  label={en.ipv6Meaning}
                  checked={form.hasIpv6}
                  onChange={(hasIpv6) => change({ hasIpv6 })}
                />
              )}
              <CheckField
                label="VMs of all data centres of the organisation may be on it"
                checked={form.isShared}
                onChange={(isShared) => change({ isShared })}
              />
            </div>
          </Card>
          <CreateButtons action="Create network" unavailable={reason} list={paths.networks} />
        </div>
        <TerminalCard form={form} href={href} />
      </form>
    </div>
  )
}

interface FormPartProps {
  readonly form: NetworkForm
  readonly onChange: (part: Partial<NetworkForm>) => void
}

function ScopeFields({ form, onChange }: FormPartProps) {
  const wrong = whyNotScope(form)
  return (
    <>
      <div className={page['pair']}>
        <TextField
          label="Range"
          value={form.range}
          hint="From /16 to /29."
          error={wrong?.startsWith('the range') ? en.sentence(wrong) : undefined}
          onChange={(event) => onChange({ range: event.target.value.trim() })}
        />
        <TextField
          label="Router"
          placeholder={isRange(form.range) ? routerOf(form.range) : ''}
          value={form.gateway}
          error={wrong?.startsWith('the router') ? en.sentence(wrong) : undefined}
          onChange={(event) => onChange({ gateway: event.target.value.trim() })}
        />
      </div>
      <div className={page['pair']}>
        <TextField
          label="Pool"
          placeholder="all addresses"
          value={form.pool}
          hint="VMs get addresses of the pool. Others are for VMs that name one."
          error={wrong?.startsWith('the pool') ? en.sentence(wrong) : undefined}
          onChange={(event) => onChange({ pool: event.target.value })}
        />
        <TextField
          label="Name servers"
          placeholder="9.9.9.9, 1.1.1.1"
          value={form.dns}
          error={wrong?.startsWith('name servers') ? en.sentence(wrong) : undefined}
          onChange={(event) => onChange({ dns: event.target.value })}
        />
      </div>
    </>
  )
}

function TerminalCard({
  form,
  href,
}: {
  readonly form: NetworkForm
  readonly href: string | undefined
}) {
  const named = { ...form, name: form.name === '' ? 'backend' : form.name }
  return (
    <Card title="On a terminal">
      <div className={page['stack']}>
        <p className={page['soft']}>The same as a command.</p>
        <CommandLine wraps text={networkCommand(named)} />
        {href !== undefined && whyNotScope(form) === undefined && (
          <CommandLine wraps text={curlCommand('POST', pathOf(href), bodyOf(named))} />
        )}
      </div>
    </Card>
  )
}
