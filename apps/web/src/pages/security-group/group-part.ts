import type { SecurityGroupDocument } from '../../api/security-group-documents.ts'
import type { WantedChange } from '../../data/networks/use-versioned-change.ts'
import type { GroupChange } from '../../model/networks/security-group.ts'

/** What the parts of the page share. */
export interface GroupPartProps {
  readonly group: SecurityGroupDocument
  /** Why it cannot be changed now. */
  readonly unavailable: string | undefined
  /** `seen`: the group that the user saw; default: as it is now. */
  readonly onChange: (wanted: WantedChange<GroupChange>, seen?: SecurityGroupDocument) => void
}

/** What its dialogs share. */
export interface GroupDialogProps extends GroupPartProps {
  readonly onClose: () => void
}
