import { useState } from 'react'

import { GroupFields } from '../../app/networks/group-fields.tsx'
import { CommandChoice } from '../../components/command-line.tsx'
import { FormDialog } from '../../components/dialog.tsx'
import { groupCurl } from '../../data/networks/use-group-change.ts'
import {
  describeGroup,
  groupRulesOf,
  whyNotGroup,
  writtenGroup,
} from '../../model/networks/security-group.ts'
import { plural } from '../../text/format.ts'
import type { GroupDialogProps } from './group-part.ts'

import page from '../../styles/page.module.css'

/** Name, labels and directions. Its rules are changed on the page. */
export function EditDialog({ group: now, unavailable, onChange, onClose }: GroupDialogProps) {
  // As it was when the form was filled in: what someone else changes meanwhile is a conflict, and is not overwritten.
  const [group] = useState(now)
  const [written, setWritten] = useState(() => writtenGroup(group))
  const reason = whyNotGroup(written)
  const change = describeGroup(written)
  const lost =
    (written.limitsIn ? 0 : groupRulesOf(group, 'in').length) +
    (written.limitsOut ? 0 : groupRulesOf(group, 'out').length)
  return (
    <FormDialog
      title={`Change security group ${group.name}`}
      onClose={onClose}
      onSubmit={() => onChange({ change, what: `Changed ${written.name}`, onDone: onClose }, group)}
      action="Save changes"
      unavailable={unavailable ?? reason}
    >
      <GroupFields group={written} onChange={(part) => setWritten({ ...written, ...part })} />
      {lost > 0 && (
        <p className={page['warn']} role="status">
          {plural(lost, 'rule')} of a direction that is not limited any more will be deleted.
        </p>
      )}
      {reason === undefined && <CommandChoice curl={groupCurl(group, change)} />}
    </FormDialog>
  )
}
