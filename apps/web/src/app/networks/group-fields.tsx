import { CheckField, TextArea, TextField } from '../../components/field.tsx'
import { whyNotLabels, type WrittenGroup } from '../../model/networks/security-group.ts'
import { en } from '../../text/en.ts'

interface GroupFieldsProps {
  readonly group: WrittenGroup
  readonly onChange: (part: Partial<WrittenGroup>) => void
}

/** Name, labels and directions of a security group. */
export function GroupFields({ group, onChange }: GroupFieldsProps) {
  const wrong = whyNotLabels(group.labels)
  return (
    <>
      <TextField
        label="Name"
        placeholder="web"
        value={group.name}
        onChange={(event) => onChange({ name: event.target.value })}
      />
      <TextField
        label="Description"
        value={group.description}
        onChange={(event) => onChange({ description: event.target.value })}
      />
      <TextArea
        label="Labels"
        rows={3}
        placeholder="role=web"
        hint="One per line. It has the VMs whose metadata has all of them; without labels it has none."
        value={group.labels}
        error={wrong === undefined ? undefined : en.sentence(wrong)}
        onChange={(event) => onChange({ labels: event.target.value })}
      />
      <CheckField
        label="Its VMs accept only what a rule allows"
        checked={group.limitsIn}
        onChange={(limitsIn) => onChange({ limitsIn })}
      />
      <CheckField
        label="Its VMs send only what a rule allows"
        checked={group.limitsOut}
        onChange={(limitsOut) => onChange({ limitsOut })}
      />
    </>
  )
}
