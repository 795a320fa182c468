import type { OrgRoleDocument } from '../../../api/documents.ts'
import { RemovableMenu } from '../../../app/records/removable-menu.tsx'
import { removalOf, useChange } from '../../../data/use-change.ts'

interface RoleMenuProps {
  readonly role: OrgRoleDocument
  readonly onEdit: () => void
}

export function RoleMenu({ role, onEdit }: RoleMenuProps) {
  const { name, href, users = 0, groups = 0 } = role
  const { makeChange } = useChange()
  const isUsed = users + groups > 0
  return (
    <RemovableMenu
      name={name}
      items={[{ text: 'Change', icon: 'gear', onSelect: onEdit }]}
      unavailable={isUsed ? `it is in use: users ${users}, groups ${groups}` : undefined}
      onRemove={() => makeChange(removalOf(name, href))}
    >
      <p>No user and no group has it.</p>
    </RemovableMenu>
  )
}
