import { useState } from 'react'
import { Link } from 'react-router'

import { idOf } from '../../api/client.ts'
import type { GroupRuleDocument } from '../../api/security-group-documents.ts'
import { paths } from '../../app/paths.ts'
import { Button } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { CommandChoice } from '../../components/command-line.tsx'
import { ConfirmDialog } from '../../components/dialog.tsx'
import { Table, type PageTableColumn } from '../../components/table.tsx'
import { groupCurl } from '../../data/networks/use-group-change.ts'
import { removeGroupRuleCommand } from '../../model/networks/network-commands.ts'
import {
  groupPortsText,
  groupRulesOf,
  groupRuleText,
  isLimited,
  peerText,
  removeGroupRule,
  ruleNumber,
  type GroupDirection,
} from '../../model/networks/security-group.ts'
import { en } from '../../text/en.ts'
import type { GroupPartProps } from './group-part.ts'
import { RuleDialog } from './rule-dialog.tsx'

import page from '../../styles/page.module.css'

interface RulesCardProps extends GroupPartProps {
  readonly direction: GroupDirection
}

interface NumberedGroupRule {
  /** As the command line counts. */
  readonly number: number
  readonly rule: GroupRuleDocument
}

/** What its VMs accept, or what they send. */
export function RulesCard({ direction, ...part }: RulesCardProps) {
  const { group, unavailable } = part
  const [isAdding, setAdding] = useState(false)
  const [removed, setRemoved] = useState<NumberedGroupRule>()
  const { title, open, none } = en.groupDirection[direction]
  const rules = groupRulesOf(group, direction).map((rule, at) => ({
    number: ruleNumber(group, direction, at + 1),
    rule,
  }))
  const tools: PageTableColumn<NumberedGroupRule> = {
    key: 'tools',
    title: 'Actions',
    isTitleHidden: true,
    isNumeric: true,
    isEssential: true,
    cell: (row) => (
      <Button
        small
        tone="plain"
        icon="trash"
        label={`Remove rule ${row.number}`}
        unavailable={unavailable}
        onClick={() => setRemoved(row)}
      />
    ),
  }
  return (
    <Card
      title={title}
      flush
      tools={
        <Button
          small
          icon="plus"
          label={`Add rule: ${title}`}
          unavailable={unavailable}
          onClick={() => setAdding(true)}
        >
          Add rule
        </Button>
      }
    >
      <Table
        label={title}
        rows={rules}
        keyOf={({ number }) => String(number)}
        empty={isLimited(group, direction) ? none : open}
        columns={[...columns(direction), tools]}
      />
      {isAdding && <RuleDialog {...part} direction={direction} onClose={() => setAdding(false)} />}
      {removed && (
        <RemoveDialog
          {...part}
          direction={direction}
          row={removed}
          onClose={() => setRemoved(undefined)}
        />
      )}
    </Card>
  )
}

interface RemoveDialogProps extends RulesCardProps {
  readonly row: NumberedGroupRule
  readonly onClose: () => void
}

function RemoveDialog({ group, direction, row, onChange, onClose }: RemoveDialogProps) {
  const change = removeGroupRule(row.rule, direction)
  const text = groupRuleText(row.rule, direction)
  return (
    <ConfirmDialog
      title={`Remove rule ${row.number}`}
      action="Remove"
      icon="trash"
      onClose={onClose}
      onConfirm={() => {
        onClose()
        onChange({ change, what: `Removed ${text}` })
      }}
    >
      <p>
        Connections that no other rule allows are blocked, also open ones:{' '}
        <span className={page['mono']}>{text}</span>
      </p>
      <CommandChoice
        skerry={removeGroupRuleCommand(group.name, row.number)}
        curl={groupCurl(group, change)}
      />
    </ConfirmDialog>
  )
}

const columns = (direction: GroupDirection): readonly PageTableColumn<NumberedGroupRule>[] => [
  { key: 'number', title: 'No.', width: '3.5rem', cell: ({ number }) => number },
  {
    key: 'protocol',
    title: 'Protocol',
    width: '6rem',
    isEssential: true,
    cell: ({ rule }) => rule.protocol,
  },
  {
    key: 'ports',
    title: 'Ports',
    width: '7rem',
    isEssential: true,
    cell: ({ rule }) => groupPortsText(rule, 'all'),
  },
  {
    key: 'peer',
    title: direction === 'in' ? 'From' : 'To',
    isEssential: true,
    cell: ({ rule }) => <Peer rule={rule} />,
  },
]

const Peer = ({ rule }: { readonly rule: GroupRuleDocument }) => {
  const { peerGroup, cidr } = rule
  if (peerGroup?.href === undefined)
    return (
      <span className={cidr === undefined ? undefined : page['mono']}>
        {peerText(rule, en.anybody)}
      </span>
    )
  return (
    <Link className={page['link']} to={paths.securityGroup(idOf(peerGroup.href))}>
      VMs of {peerGroup.name}
    </Link>
  )
}
