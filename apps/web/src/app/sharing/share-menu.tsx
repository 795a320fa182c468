import { CommandChoice } from '../../components/command-line.tsx'
import { useShareChange } from '../../data/sharing/use-share-change.ts'
import {
  unshareCommand,
  withoutShare,
  type Share,
  type ShareAccess,
  type SharedItem,
} from '../../model/sharing.ts'
import { sharingText } from '../../text/sharing.ts'
import { RemovableMenu } from '../records/removable-menu.tsx'

interface ShareMenuProps {
  readonly object: SharedItem
  readonly access: ShareAccess
  readonly share: Share
  /** Why it cannot be changed now. */
  readonly unavailable: string | undefined
  readonly onEdit: () => void
}

export function ShareMenu({ object, access, share, unavailable, onEdit }: ShareMenuProps) {
  const { subject } = share
  const name = sharingText.subject(subject)
  const { send } = useShareChange(access)
  return (
    <RemovableMenu
      name={name}
      items={[{ text: 'Change access', icon: 'gear', unavailable, onSelect: onEdit }]}
      unavailable={unavailable}
      onRemove={() =>
        send({
          change: (shares) => withoutShare(shares, subject),
          success: `${object.name} is no longer shared with ${name}`,
          failure: `${object.name} is still shared with ${name}`,
        })
      }
    >
      <p>
        {object.name} is no longer shared with {name}. What their roles and other shares allow
        stays.
      </p>
      <CommandChoice skerry={unshareCommand(object, subject)} />
    </RemovableMenu>
  )
}
