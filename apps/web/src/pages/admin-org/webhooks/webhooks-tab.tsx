// The webhooks of an organisation: where its events are sent, and what the receivers answer.
import { useState } from 'react'

import {
  linkOf,
  type AdminOrgDocument,
  type WebhookDocument,
  type WebhooksDocument,
} from '../../../api/documents.ts'
import { EditedTable } from '../../../app/records/edited-table.tsx'
import { Card } from '../../../components/card.tsx'
import { CommandLine } from '../../../components/command-line.tsx'
import { ErrorState } from '../../../components/empty-state.tsx'
import { useDocument } from '../../../data/use-documents.ts'
import { shellQuoted } from '../../../model/commands.ts'
import { DeliveriesDialog } from './deliveries-dialog.tsx'
import { WebhookDialog } from './webhook-dialog.tsx'
import { WebhookMenu } from './webhook-menu.tsx'
import { webhookState } from './webhook-state.ts'

import page from '../../../styles/page.module.css'

export function WebhooksTab({ org }: { readonly org: AdminOrgDocument }) {
  const { data, error, refetch } = useDocument<WebhooksDocument>(
    linkOf(org, 'down', 'admin.webhooks'),
  )
  const [shown, setShown] = useState<WebhookDocument>()
  const addHref = linkOf(data, 'add')
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />
  return (
    <div className={page['stack']}>
      <EditedTable
        title="Webhooks"
        rows={data?.webhook ?? []}
        keyOf={({ href }) => href}
        empty="No webhooks. A webhook sends the events of the organisation to a URL, in their order."
        add="Add webhook"
        unavailable={addHref === undefined ? 'the list is being read' : undefined}
        columns={[
          {
            key: 'name',
            title: 'Name',
            isEssential: true,
            cell: ({ name }) => <span className={page['strong']}>{name}</span>,
          },
          { key: 'url', title: 'URL', cell: ({ url }) => url },
          {
            key: 'kinds',
            title: 'Kinds of events',
            cell: ({ kind = [] }) => (kind.length === 0 ? 'all' : kind.join(', ')),
          },
          {
            key: 'state',
            title: 'State',
            isEssential: true,
            cell: (webhook) => {
              const { text, tone } = webhookState(webhook)
              return <span className={page[tone]}>{text}</span>
            },
          },
          {
            key: 'behind',
            title: 'Events behind',
            isNumeric: true,
            cell: ({ behind = 0 }) => behind,
          },
        ]}
        menu={(webhook, onEdit) => (
          <WebhookMenu webhook={webhook} onEdit={onEdit} onShow={() => setShown(webhook)} />
        )}
        dialog={(webhook, onClose) => (
          <WebhookDialog
            webhook={webhook}
            href={webhook?.href ?? addHref ?? ''}
            onClose={onClose}
          />
        )}
      />
      <Card title="On a terminal">
        <div className={page['stack']}>
          <CommandLine text={`skerry webhook list --org ${shellQuoted(org.name)}`} />
        </div>
      </Card>
      {shown && (
        <DeliveriesDialog name={shown.name} href={shown.href} onClose={() => setShown(undefined)} />
      )}
    </div>
  )
}
