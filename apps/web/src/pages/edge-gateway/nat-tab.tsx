import { useState } from 'react'

import type { NatRuleDocument } from '../../api/edge-documents.ts'
import { Button } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { Menu, type MenuItem } from '../../components/menu.tsx'
import { Table, type PageTableColumn } from '../../components/table.tsx'
import {
  isRuleOn,
  natKindOf,
  natRulesOf,
  natText,
  passingRules,
  removeNat,
  servicesOf,
  switchNat,
  unpublishPort,
} from '../../model/networks/edge-gateway.ts'
import { en } from '../../text/en.ts'
import type { GatewayTabProps } from './gateway-tab.ts'
import { NatDialog } from './nat-dialog.tsx'
import { RuleState } from './rule-state.tsx'

import page from '../../styles/page.module.css'

/** Forwarded ports, whole addresses, and the addresses that VMs have outside. */
export function NatTab({ gateway, unavailable, onChange }: GatewayTabProps) {
  const [isAdding, setAdding] = useState(false)
  const services = servicesOf(gateway)
  /** Ends what **Publish a port…** on the page of a VM did. */
  const unpublish = (rule: NatRuleDocument): MenuItem => ({
    text: 'Unpublish',
    icon: 'trash',
    isDangerous: true,
    unavailable,
    onSelect: () =>
      onChange({
        change: unpublishPort(rule),
        what: `Unpublishing ${natText(rule)}, with its firewall rule`,
      }),
  })
  const tools: PageTableColumn<NatRuleDocument> = {
    key: 'tools',
    title: 'Actions',
    isTitleHidden: true,
    isNumeric: true,
    isEssential: true,
    cell: (rule) => {
      const text = natText(rule)
      const isOn = isRuleOn(rule)
      return (
        <Menu
          trigger={<Button small tone="plain" icon="more" label={`Actions of ${text}`} />}
          groups={[
            {
              items: [
                {
                  text: isOn ? 'Disable' : 'Enable',
                  icon: isOn ? 'close' : 'check',
                  unavailable,
                  onSelect: () =>
                    onChange({
                      change: switchNat(rule.id, !isOn),
                      what: `${isOn ? 'Disabling' : 'Enabling'} ${text}`,
                    }),
                },
                ...(passingRules(rule, services).length > 0 ? [unpublish(rule)] : []),
                {
                  text: 'Remove',
                  icon: 'trash',
                  isDangerous: true,
                  unavailable,
                  onSelect: () =>
                    onChange({ change: removeNat(rule.id), what: `Removing ${text}` }),
                },
              ],
            },
          ]}
        />
      )
    },
  }
  return (
    <Card
      title="Published ports and addresses"
      flush
      tools={
        <Button small icon="plus" unavailable={unavailable} onClick={() => setAdding(true)}>
          Add rule
        </Button>
      }
    >
      <Table
        label="Published ports and addresses"
        rows={natRulesOf(services)}
        keyOf={(rule) => rule.id ?? natText(rule)}
        empty="Nothing is published: the outside reaches no VM behind this gateway."
        columns={[...columns, tools]}
      />
      {isAdding && (
        <NatDialog
          gateway={gateway}
          unavailable={unavailable}
          onChange={onChange}
          onClose={() => setAdding(false)}
        />
      )}
    </Card>
  )
}

const columns: readonly PageTableColumn<NatRuleDocument>[] = [
  {
    key: 'kind',
    title: 'Kind',
    width: '9rem',
    cell: (rule) => en.natKind[natKindOf(rule)],
  },
  {
    key: 'rule',
    title: 'Rule',
    isEssential: true,
    cell: (rule) => <span className={page['mono']}>{natText(rule)}</span>,
  },
  {
    key: 'description',
    title: 'Description',
    cell: ({ description }) => <span className={page['soft']}>{description}</span>,
  },
  {
    key: 'id',
    title: 'ID',
    width: '5rem',
    cell: ({ id }) => <span className={`${page['mono']} ${page['soft']}`}>{id}</span>,
  },
  {
    key: 'state',
    title: 'State',
    width: '8rem',
    cell: (rule) => <RuleState isOn={isRuleOn(rule)} />,
  },
]
