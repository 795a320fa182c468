import { useState } from 'react'

import { CommandChoice } from '../../components/command-line.tsx'
import { FormDialog } from '../../components/dialog.tsx'
import { SelectField, TextField } from '../../components/field.tsx'
import { groupCurl } from '../../data/networks/use-group-change.ts'
import { useRecords } from '../../data/use-record-list.ts'
import { groupRuleCommand } from '../../model/networks/network-commands.ts'
import {
  addGroupRule,
  groupProtocols,
  groupRuleOf,
  groupRuleText,
  hasPorts,
  isLimited,
  whyNotRule,
  type GroupDirection,
  type WrittenRule,
} from '../../model/networks/security-group.ts'
import { en } from '../../text/en.ts'
import type { GroupDialogProps } from './group-part.ts'

import page from '../../styles/page.module.css'

const peers = ['anybody', 'addresses', 'group'] as const

interface RuleDialogProps extends GroupDialogProps {
  readonly direction: GroupDirection
}

export function RuleDialog({ group, direction, unavailable, onChange, onClose }: RuleDialogProps) {
  const [typed, setTyped] = useState<WrittenRule>({
    direction,
    protocol: 'tcp',
    port: '',
    peer: 'anybody',
    addresses: '',
    group: '',
  })
  const { data } = useRecords('securityGroup', { sort: 'name' })
  const groups = data?.records ?? []
  // The first group, until the user chooses one, and if that is deleted meanwhile; the list may come later than the dialog.
  const chosen = groups.find(({ href }) => href === typed.group) ?? groups[0]
  const written = { ...typed, group: chosen?.href ?? '' }
  const set = (part: Partial<WrittenRule>): void => setTyped({ ...typed, ...part })
  const reason = whyNotRule(written)
  const rule = groupRuleOf(written, groups)
  const change = addGroupRule(rule, direction)
  const submit = (): void =>
    onChange({ change, what: `Added ${groupRuleText(rule, direction)}`, onDone: onClose })
  return (
    <FormDialog
      title={`Add rule: ${en.groupDirection[direction].title}`}
      onClose={onClose}
      onSubmit={submit}
      action="Add rule"
      unavailable={unavailable ?? reason}
    >
      {!isLimited(group, direction) && (
        <p className={page['warn']} role="status">
          {en.groupDirection[direction].closes}
        </p>
      )}
      <div className={page['pair']}>
        <SelectField
          label="Protocol"
          value={written.protocol}
          options={groupProtocols.map((value) => ({ value, text: value }))}
          onChange={(value) =>
            set({ protocol: groupProtocols.find((each) => each === value) ?? 'any' })
          }
        />
        {hasPorts(written) && (
          <TextField
            label="Ports"
            placeholder="all"
            hint="One, or a range: 8000-8080."
            value={written.port}
            onChange={(event) => set({ port: event.target.value.trim() })}
          />
        )}
      </div>
      <SelectField
        label={direction === 'in' ? 'From' : 'To'}
        value={written.peer}
        options={peers.map((value) => ({ value, text: en.groupPeer[value] }))}
        onChange={(value) => set({ peer: peers.find((each) => each === value) ?? 'anybody' })}
      />
      {written.peer === 'addresses' && (
        <TextField
          label="Addresses"
          placeholder="10.0.0.0/8"
          value={written.addresses}
          onChange={(event) => set({ addresses: event.target.value.trim() })}
        />
      )}
      {written.peer === 'group' && (
        <SelectField
          label="Security group"
          value={written.group}
          hint="Its VMs are recognised on the same network, and behind the same edge gateway."
          options={groups.map(({ name, href }) => ({ value: href, text: name }))}
          onChange={(value) => set({ group: value })}
        />
      )}
      {reason === undefined && (
        <CommandChoice
          skerry={groupRuleCommand(group.name, rule, direction)}
          curl={groupCurl(group, change)}
        />
      )}
    </FormDialog>
  )
}
