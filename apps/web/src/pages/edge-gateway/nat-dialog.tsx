import { isAddress } from '@skerry/vm/ipv4'
import { useState } from 'react'

import type { EdgeGatewayDocument, NatRuleDocument } from '../../api/edge-documents.ts'
import { CommandChoice } from '../../components/command-line.tsx'
import { FormDialog } from '../../components/dialog.tsx'
import { SelectField, TextField } from '../../components/field.tsx'
import { servicesCurl } from '../../data/networks/use-services-change.ts'
import {
  addNat,
  forwardRule,
  isPort,
  natText,
  ownAddressOf,
  takenAddressesOf,
  type NatKind,
} from '../../model/networks/edge-gateway.ts'
import { natCommand } from '../../model/networks/network-commands.ts'
import { isRange } from '../../model/networks/network.ts'
import { en } from '../../text/en.ts'
import type { RuleDialogProps } from './gateway-tab.ts'

import page from '../../styles/page.module.css'

interface NatForm {
  readonly kind: NatKind
  readonly external: string
  readonly port: string
  readonly internal: string
  readonly internalPort: string
  readonly protocol: 'tcp' | 'udp'
  readonly description: string
}

const kinds: readonly NatKind[] = ['forward', 'oneToOne', 'source']

/** The gateway's own address is for all; one VM alone can have an address that the organisation took. */
const usable = (gateway: EdgeGatewayDocument, kind: NatKind): readonly string[] =>
  kind === 'oneToOne'
    ? takenAddressesOf(gateway)
    : [ownAddressOf(gateway), ...takenAddressesOf(gateway)]

function whyNot({ kind, external, port, internal, internalPort }: NatForm): string | undefined {
  if (external === '') return 'take an external address first'
  if (kind === 'source')
    return isAddress(internal) || isRange(internal)
      ? undefined
      : 'the inside must be an address, or a network such as 10.0.0.0/24'
  if (!isAddress(internal)) return 'the inside must be the address of a VM'
  if (kind === 'oneToOne') return undefined
  return isPort(port) && (internalPort === '' || isPort(internalPort))
    ? undefined
    : 'ports must be from 1 to 65535'
}

function ruleOf(form: NatForm): NatRuleDocument {
  const { kind, external, internal, description } = form
  if (kind === 'forward') {
    const port = Number(form.port)
    const internalPort = form.internalPort === '' ? port : Number(form.internalPort)
    return forwardRule({ ...form, port, internalPort })
  }
  const isSource = kind === 'source'
  return {
    ...(description !== '' && { description }),
    ruleType: isSource ? 'SNAT' : 'DNAT',
    isEnabled: true,
    gatewayNatRule: {
      originalIp: isSource ? internal : external,
      translatedIp: isSource ? external : internal,
    },
  }
}

export function NatDialog({ gateway, unavailable, onChange, onClose }: RuleDialogProps) {
  const [form, setForm] = useState<NatForm>({
    kind: 'forward',
    external: ownAddressOf(gateway),
    port: '',
    internal: '',
    internalPort: '',
    protocol: 'tcp',
    description: '',
  })
  const change = (part: Partial<NatForm>): void => setForm({ ...form, ...part })
  const rule = ruleOf(form)
  const reason = whyNot(form)
  const submit = (): void => {
    onChange({ change: addNat(rule), what: `Adding ${natText(rule)}`, onDone: onClose })
  }
  return (
    <FormDialog
      title="Add rule"
      onClose={onClose}
      onSubmit={submit}
      action="Add rule"
      unavailable={unavailable ?? reason}
    >
      <SelectField
        label="Kind"
        value={form.kind}
        options={kinds.map((kind) => ({ value: kind, text: en.natKind[kind] }))}
        hint={en.natMeaning[form.kind]}
        onChange={(value) => {
          const kind = kinds.find((each) => each === value) ?? 'forward'
          change({ kind, external: usable(gateway, kind)[0] ?? '' })
        }}
      />
      <div className={page['pair']}>
        <SelectField
          label="Outside"
          value={form.external}
          options={usable(gateway, form.kind).map((value) => ({ value, text: value }))}
          onChange={(external) => change({ external })}
        />
        <TextField
          label="Inside"
          placeholder="10.84.0.5"
          value={form.internal}
          onChange={(event) => change({ internal: event.target.value.trim() })}
        />
      </div>
      {form.kind === 'forward' && <PortFields form={form} onChange={change} />}
      <TextField
        label="Description"
        value={form.description}
        onChange={(event) => change({ description: event.target.value })}
      />
      {reason === undefined && (
        <CommandChoice
          skerry={natCommand(rule, gateway.name)}
          curl={servicesCurl(gateway, addNat(rule))}
        />
      )}
    </FormDialog>
  )
}

interface PortFieldsProps {
  readonly form: NatForm
  readonly onChange: (part: Partial<NatForm>) => void
}

const PortFields = ({ form, onChange }: PortFieldsProps) => (
  <>
    <div className={page['pair']}>
      <TextField
        label="Port outside"
        inputMode="numeric"
        value={form.port}
        onChange={(event) => onChange({ port: event.target.value.trim() })}
      />
      <TextField
        label="Port inside"
        inputMode="numeric"
        placeholder={form.port}
        value={form.internalPort}
        onChange={(event) => onChange({ internalPort: event.target.value.trim() })}
      />
    </div>
    <SelectField
      label="Protocol"
      value={form.protocol}
      options={['tcp', 'udp'].map((value) => ({ value, text: value }))}
      hint="The firewall must allow the port, too."
      onChange={(protocol) => onChange({ protocol: protocol === 'udp' ? 'udp' : 'tcp' })}
    />
  </>
)
