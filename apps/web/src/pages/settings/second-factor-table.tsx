import { linkOf } from '../../api/documents.ts'
import type { SecondFactorDocument } from '../../api/second-factor-documents.ts'
import { Button } from '../../components/button.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import { Table } from '../../components/table.tsx'

import page from '../../styles/page.module.css'

interface SecondFactorTableProps {
  readonly factors: readonly SecondFactorDocument[]
  /** Whether the organisation requires one. */
  readonly isRequired: boolean
  readonly onRemove: (factor: SecondFactorDocument) => void
}

export const SecondFactorTable = ({ factors, isRequired, onRemove }: SecondFactorTableProps) => (
  <Table
    label="Second factors"
    rows={factors}
    keyOf={({ href }) => href}
    empty={
      isRequired
        ? 'None. Your organisation requires one.'
        : 'None. With a second factor, someone who has your password cannot log in.'
    }
    columns={[
      { key: 'name', title: 'Name', isEssential: true, cell: ({ name }) => name },
      {
        key: 'state',
        title: 'State',
        isEssential: true,
        cell: ({ confirmed }) => (
          <span className={confirmed ? page['good'] : page['warn']}>
            {confirmed ? 'Confirmed' : 'Not confirmed'}
          </span>
        ),
      },
      {
        key: 'kind',
        title: 'Kind',
        cell: ({ kind }) => (kind === 'PASSKEY' ? 'Passkey' : 'App'),
      },
      {
        key: 'created',
        title: 'Created',
        cell: ({ created }) => <RelativeTime time={created} />,
      },
      {
        key: 'used',
        title: 'Last used',
        cell: ({ lastUsed }) => (lastUsed === undefined ? '–' : <RelativeTime time={lastUsed} />),
      },
      {
        key: 'tools',
        title: 'Actions',
        isTitleHidden: true,
        isNumeric: true,
        isEssential: true,
        cell: (factor) => (
          <Button
            small
            tone="plain"
            icon="trash"
            unavailable={
              linkOf(factor, 'remove') === undefined
                ? 'this session began with an API token'
                : undefined
            }
            onClick={() => onRemove(factor)}
          >
            Remove
          </Button>
        ),
      },
    ]}
  />
)
