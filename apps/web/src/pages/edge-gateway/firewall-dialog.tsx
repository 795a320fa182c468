import { useState } from 'react'

import type { FirewallRuleDocument } from '../../api/edge-documents.ts'
import { CommandChoice } from '../../components/command-line.tsx'
import { FormDialog } from '../../components/dialog.tsx'
import { SelectField, TextField } from '../../components/field.tsx'
import { servicesCurl } from '../../data/networks/use-services-change.ts'
import {
  addFirewall,
  firewallRulesOf,
  firewallText,
  isPortRange,
  servicesOf,
  type FirewallProtocolName,
} from '../../model/networks/edge-gateway.ts'
import { firewallCommand } from '../../model/networks/network-commands.ts'
import { en } from '../../text/en.ts'
import type { RuleDialogProps } from './gateway-tab.ts'

import page from '../../styles/page.module.css'

const protocols: readonly FirewallProtocolName[] = ['tcp', 'udp', 'icmp', 'any']

interface FirewallForm {
  readonly policy: 'allow' | 'drop'
  readonly direction: 'in' | 'out'
  readonly protocol: FirewallProtocolName
  readonly source: string
  readonly destination: string
  readonly port: string
  readonly description: string
}

const initial: FirewallForm = {
  policy: 'allow',
  direction: 'in',
  protocol: 'tcp',
  source: 'Any',
  destination: '',
  port: '',
  description: '',
}

const hasPorts = ({ protocol }: FirewallForm): boolean => protocol === 'tcp' || protocol === 'udp'

function whyNot(form: FirewallForm): string | undefined {
  if (form.source === '' || form.destination === '') return 'the rule needs source and destination'
  return !hasPorts(form) || form.port === '' || isPortRange(form.port)
    ? undefined
    : 'ports must be written like 443 or 8000-8080'
}

const ruleOf = (form: FirewallForm): FirewallRuleDocument => ({
  isEnabled: true,
  description: form.description,
  policy: form.policy,
  protocols: { [form.protocol]: true },
  ...(hasPorts(form) && form.port !== '' && { destinationPortRange: form.port }),
  destinationIp: form.destination,
  sourceIp: form.source,
  direction: form.direction,
})

export function FirewallDialog({ gateway, unavailable, onChange, onClose }: RuleDialogProps) {
  const [form, setForm] = useState(initial)
  const change = (part: Partial<FirewallForm>): void => setForm({ ...form, ...part })
  const rule = ruleOf(form)
  const reason = whyNot(form)
  const submit = (): void => {
    onChange({ change: addFirewall(rule), what: `Adding ${firewallText(rule)}`, onDone: onClose })
  }
  return (
    <FormDialog
      title="Add firewall rule"
      onClose={onClose}
      onSubmit={submit}
      action="Add rule"
      unavailable={unavailable ?? reason}
    >
      <div className={page['pair']}>
        <SelectField
          label="Policy"
          value={form.policy}
          options={(['allow', 'drop'] as const).map((value) => ({
            value,
            text: en.firewallPolicy[value],
          }))}
          onChange={(policy) => change({ policy: policy === 'drop' ? 'drop' : 'allow' })}
        />
        <SelectField
          label="Direction"
          value={form.direction}
          options={(['in', 'out'] as const).map((value) => ({ value, text: en.direction[value] }))}
          onChange={(direction) => change({ direction: direction === 'out' ? 'out' : 'in' })}
        />
      </div>
      <div className={page['pair']}>
        <TextField
          label="Source"
          value={form.source}
          hint="Any, internal, external, an address, a network or a range."
          onChange={(event) => change({ source: event.target.value.trim() })}
        />
        <TextField
          label="Destination"
          value={form.destination}
          hint="For a published port: its external address."
          onChange={(event) => change({ destination: event.target.value.trim() })}
        />
      </div>
      <div className={page['pair']}>
        <SelectField
          label="Protocol"
          value={form.protocol}
          options={protocols.map((value) => ({ value, text: value }))}
          onChange={(value) =>
            change({ protocol: protocols.find((each) => each === value) ?? 'any' })
          }
        />
        {hasPorts(form) && (
          <TextField
            label="Destination port"
            placeholder="any"
            value={form.port}
            onChange={(event) => change({ port: event.target.value.trim() })}
          />
        )}
      </div>
      <TextField
        label="Description"
        value={form.description}
        hint="The new rule is the first. Move it down to let others decide before it."
        onChange={(event) => change({ description: event.target.value })}
      />
      {reason === undefined && (
        <CommandChoice
          skerry={firewallCommand(rule, gateway.name, firewallRulesOf(servicesOf(gateway))[0]?.id)}
          curl={servicesCurl(gateway, addFirewall(rule))}
        />
      )}
    </FormDialog>
  )
}
