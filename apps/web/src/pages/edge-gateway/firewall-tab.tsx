import { useState } from 'react'

import type { FirewallRuleDocument } from '../../api/edge-documents.ts'
import { Button } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { SelectField } from '../../components/field.tsx'
import { Icon } from '../../components/icon.tsx'
import { Menu } from '../../components/menu.tsx'
import { Table, type PageTableColumn } from '../../components/table.tsx'
import {
  firewallRulesOf,
  firewallText,
  isRuleOn,
  moveFirewall,
  protocolsText,
  removeFirewall,
  servicesOf,
  setDefaultAction,
  switchFirewall,
} from '../../model/networks/edge-gateway.ts'
import { en } from '../../text/en.ts'
import { FirewallDialog } from './firewall-dialog.tsx'
import type { GatewayTabProps } from './gateway-tab.ts'
import { RuleState } from './rule-state.tsx'

import page from '../../styles/page.module.css'

interface NumberedRule {
  readonly place: number
  readonly rule: FirewallRuleDocument
}

/** The rules in their order: the first that matches decides. */
export function FirewallTab({ gateway, unavailable, onChange }: GatewayTabProps) {
  const [isAdding, setAdding] = useState(false)
  const services = servicesOf(gateway)
  const rules = firewallRulesOf(services)
  const isOn = services.firewallService?.isEnabled ?? true
  const tools: PageTableColumn<NumberedRule> = {
    key: 'tools',
    title: 'Actions',
    isTitleHidden: true,
    isNumeric: true,
    isEssential: true,
    cell: (row) => (
      <RuleMenu
        row={row}
        last={rules.length}
        gateway={gateway}
        unavailable={unavailable}
        onChange={onChange}
      />
    ),
  }
  return (
    <Card
      title="Firewall rules"
      flush
      tools={
        <Button small icon="plus" unavailable={unavailable} onClick={() => setAdding(true)}>
          Add rule
        </Button>
      }
    >
      {!isOn && (
        <p className={`${page['inset']} ${page['warn']}`} role="status">
          The firewall is disabled: everything passes.
        </p>
      )}
      <Table
        label="Firewall rules"
        rows={rules.map((rule, at) => ({ place: at + 1, rule }))}
        keyOf={({ rule, place }) => rule.id ?? String(place)}
        empty="No rules yet."
        columns={[...columns, tools]}
      />
      <div className={page['footer']}>
        <SelectField
          label="What comes in and no rule matches"
          value={services.firewallService?.defaultAction ?? 'drop'}
          options={(['drop', 'allow'] as const).map((value) => ({
            value,
            text: en.firewallPolicy[value],
          }))}
          hint={unavailable === undefined ? 'What goes out passes.' : en.unavailable(unavailable)}
          onChange={(value) => {
            const action = value === 'allow' ? 'allow' : 'drop'
            if (unavailable !== undefined) return
            onChange({
              change: setDefaultAction(action),
              what: `Otherwise: ${en.firewallPolicy[action]}`,
            })
          }}
        />
      </div>
      {isAdding && (
        <FirewallDialog
          gateway={gateway}
          unavailable={unavailable}
          onChange={onChange}
          onClose={() => setAdding(false)}
        />
      )}
    </Card>
  )
}

interface RuleMenuProps extends GatewayTabProps {
  readonly row: NumberedRule
  readonly last: number
}

function RuleMenu({ row: { place, rule }, last, unavailable, onChange }: RuleMenuProps) {
  const text = firewallText(rule)
  const isOn = isRuleOn(rule)
  const move = (by: -1 | 1): void =>
    onChange({ change: moveFirewall(rule.id, by), what: `Moving rule ${place}` })
  return (
    <Menu
      trigger={<Button small tone="plain" icon="more" label={`Actions of rule ${place}`} />}
      groups={[
        {
          items: [
            {
              text: 'Move up',
              icon: 'up',
              unavailable: unavailable ?? (place === 1 ? 'it is the first' : undefined),
              onSelect: () => move(-1),
            },
            {
              text: 'Move down',
              icon: 'down',
              unavailable: unavailable ?? (place === last ? 'it is the last' : undefined),
              onSelect: () => move(1),
            },
            {
              text: isOn ? 'Disable' : 'Enable',
              icon: isOn ? 'close' : 'check',
              unavailable,
              onSelect: () =>
                onChange({
                  change: switchFirewall(rule.id, !isOn),
                  what: `${isOn ? 'Disabling' : 'Enabling'} rule ${place}`,
                }),
            },
            {
              text: 'Remove',
              icon: 'trash',
              isDangerous: true,
              unavailable,
              onSelect: () =>
                onChange({ change: removeFirewall(rule.id), what: `Removing ${text}` }),
            },
          ],
        },
      ]}
    />
  )
}

const peer = (address: string, ports: string | undefined) => (
  <span className={page['mono']}>
    {address}
    {ports !== undefined && !/^any$/i.test(ports) && `:${ports}`}
  </span>
)

const columns: readonly PageTableColumn<NumberedRule>[] = [
  { key: 'place', title: 'No.', width: '3.5rem', isEssential: true, cell: ({ place }) => place },
  {
    key: 'policy',
    title: 'Policy',
    width: '7rem',
    isEssential: true,
    cell: ({ rule: { policy } }) => (
      <span className={`${page['state']} ${page[policy === 'allow' ? 'good' : 'bad']}`}>
        <Icon name={policy === 'allow' ? 'check' : 'close'} size={14} />
        {en.firewallPolicy[policy]}
      </span>
    ),
  },
  {
    key: 'direction',
    title: 'Direction',
    width: '6rem',
    cell: ({ rule }) => en.direction[rule.direction ?? 'in'],
  },
  { key: 'protocols', title: 'Protocol', width: '6rem', cell: ({ rule }) => protocolsText(rule) },
  {
    key: 'source',
    title: 'Source',
    cell: ({ rule }) => peer(rule.sourceIp, rule.sourcePortRange),
  },
  {
    key: 'destination',
    title: 'Destination',
    isEssential: true,
    cell: ({ rule }) => peer(rule.destinationIp, rule.destinationPortRange),
  },
  {
    key: 'description',
    title: 'Description',
    cell: ({ rule }) => <span className={page['soft']}>{rule.description}</span>,
  },
  {
    key: 'id',
    title: 'ID',
    width: '5rem',
    cell: ({ rule }) => <span className={`${page['mono']} ${page['soft']}`}>{rule.id}</span>,
  },
  {
    key: 'state',
    title: 'State',
    width: '7.5rem',
    cell: ({ rule }) => <RuleState isOn={isRuleOn(rule)} />,
  },
]
