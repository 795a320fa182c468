import { FormDialog } from '../../components/dialog.tsx'
import type {
  VersionConflict,
  VersionedDocument,
  WantedChange,
} from '../../data/networks/use-versioned-change.ts'

import page from '../../styles/page.module.css'

interface ConflictDialogProps<Doc extends VersionedDocument, Change> {
  readonly conflict: VersionConflict<Doc, Change>
  readonly onSend: (document: Doc, wanted: WantedChange<Change>) => void
  readonly onClose: () => void
}

/** Somebody else made a change first: what they changed, and the same change again. */
export function ConflictDialog<Doc extends VersionedDocument, Change>({
  conflict,
  onSend,
  onClose,
}: ConflictDialogProps<Doc, Change>) {
  const { now, wanted, difference } = conflict
  const isSame = difference.added.length === 0 && difference.removed.length === 0
  return (
    <FormDialog
      title={`${now.name} was changed meanwhile`}
      onClose={onClose}
      onSubmit={() => onSend(now, wanted)}
      action="Apply again"
      cancel="Leave it"
    >
      <p>
        Your change was not made: {wanted.what}. Since you opened this page, someone else made these
        changes.
      </p>
      {isSame && (
        <p className={page['soft']}>
          The rules are the same; their order or another property differs.
        </p>
      )}
      <Lines title="Added" lines={difference.added} />
      <Lines title="Removed" lines={difference.removed} />
    </FormDialog>
  )
}

const Lines = ({ title, lines }: { readonly title: string; readonly lines: readonly string[] }) =>
  lines.length > 0 && (
    <div>
      <b>{title}</b>
      <ul>
        {lines.map((line) => (
          <li key={line} className={page['mono']}>
            {line}
          </li>
        ))}
      </ul>
    </div>
  )
