import type { WebhookDocument } from '../../../api/documents.ts'
import { Button } from '../../../components/button.tsx'
import { CommandLine } from '../../../components/command-line.tsx'
import { Dialog } from '../../../components/dialog.tsx'
import { RelativeTime } from '../../../components/relative-time.tsx'
import { Table } from '../../../components/table.tsx'
import { useDocument } from '../../../data/use-documents.ts'

import page from '../../../styles/page.module.css'

interface DeliveriesDialogProps {
  readonly name: string
  readonly href: string
  readonly onClose: () => void
}

/** The last messages of a webhook. */
export function DeliveriesDialog({ name, href, onClose }: DeliveriesDialogProps) {
  const { data } = useDocument<WebhookDocument>(href)
  const deliveries = data?.delivery ?? []
  const [last] = deliveries
  return (
    <Dialog
      wide
      title={`Last messages of ${name}`}
      onClose={onClose}
      footer={<Button onClick={onClose}>Close</Button>}
    >
      <Table
        label="Last messages"
        rows={deliveries}
        keyOf={({ at, firstEvent }) => `${at} ${firstEvent}`}
        empty="No message has been sent yet."
        columns={[
          {
            key: 'at',
            title: 'Sent',
            isEssential: true,
            cell: ({ at }) => <RelativeTime time={at} />,
          },
          {
            key: 'answer',
            title: 'Answer',
            isEssential: true,
            cell: ({ answer, taken }) => (
              <span className={taken ? page['good'] : page['warn']}>{answer}</span>
            ),
          },
          { key: 'events', title: 'Events', isNumeric: true, cell: ({ events }) => events },
          {
            key: 'milliseconds',
            title: 'Milliseconds',
            isNumeric: true,
            cell: ({ milliseconds }) => milliseconds,
          },
        ]}
      />
      {last && (
        <>
          <p>Send its events again, from the first of the newest message on:</p>
          <CommandLine wraps text={`skerry webhook resend ${name} --from ${last.firstEvent}`} />
        </>
      )}
    </Dialog>
  )
}
