// Who may use a vApp or a catalog beyond their role.
import type { ApiLink, Unavailable } from '../../api/documents.ts'
import type { ControlAccessDocument } from '../../api/sharing-documents.ts'
import { Card } from '../../components/card.tsx'
import { CommandLine } from '../../components/command-line.tsx'
import { ErrorState } from '../../components/empty-state.tsx'
import { useDocument } from '../../data/use-documents.ts'
import {
  keyOfSubject,
  shareAccessOf,
  shareListCommand,
  sharesOf,
  type SharedItem,
} from '../../model/sharing.ts'
import { sharingText } from '../../text/sharing.ts'
import { EditedTable } from '../records/edited-table.tsx'
import { ShareDialog } from './share-dialog.tsx'
import { ShareMenu } from './share-menu.tsx'

import page from '../../styles/page.module.css'

interface SharingTabProps {
  readonly object: SharedItem
  readonly document: {
    readonly link?: readonly ApiLink[]
    readonly unavailable?: readonly Unavailable[]
  }
}

export function SharingTab({ object, document }: SharingTabProps) {
  const access = shareAccessOf(document)
  const { data, error, refetch } = useDocument<ControlAccessDocument>(access.readHref)
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />
  const shares = sharesOf(data)
  const unavailable = access.because ?? (data ? undefined : 'the list is being read')
  return (
    <div className={page['stack']}>
      <EditedTable
        title="Shared with"
        rows={shares}
        keyOf={({ subject }) => keyOfSubject(subject)}
        empty={data && sharingText.none[object.kind]}
        add="Share…"
        unavailable={unavailable}
        columns={[
          {
            key: 'name',
            title: 'With',
            isEssential: true,
            cell: ({ subject }) => (
              <span className={page['strong']}>{sharingText.subject(subject)}</span>
            ),
          },
          {
            key: 'kind',
            title: 'Kind',
            cell: ({ subject }) => (
              <span className={page['soft']}>{sharingText.described(subject)}</span>
            ),
          },
          {
            key: 'level',
            title: 'Access',
            isEssential: true,
            cell: ({ level }) => sharingText.level[level],
          },
          {
            key: 'meaning',
            title: 'Allows',
            cell: ({ level }) => (
              <span className={page['soft']}>{sharingText.meaning[object.kind][level]}</span>
            ),
          },
        ]}
        menu={(share, onEdit) => (
          <ShareMenu
            object={object}
            access={access}
            share={share}
            unavailable={unavailable}
            onEdit={onEdit}
          />
        )}
        dialog={(share, onClose) => (
          <ShareDialog
            object={object}
            access={access}
            shares={shares}
            share={share}
            onClose={onClose}
          />
        )}
      />
      <Card title="On a terminal">
        <CommandLine text={shareListCommand(object)} />
      </Card>
    </div>
  )
}
