import { useState, type ReactNode } from 'react'

import { Button } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { Table, type PageTableColumn } from '../../components/table.tsx'

interface EditedTableProps<T> {
  readonly title: string
  readonly rows: readonly T[]
  readonly keyOf: (row: T) => string
  readonly empty: ReactNode
  readonly columns: readonly PageTableColumn<T>[]
  /** The text of the button that adds a row, such as Add role. */
  readonly add: string
  /** Why none can be added now. */
  readonly unavailable: string | undefined
  readonly menu: (row: T, onEdit: () => void) => ReactNode
  /** The dialog that changes a row; undefined: a new one. */
  readonly dialog: (row: T | undefined, onClose: () => void) => ReactNode
}

/** A short list whose rows are added and changed in a dialog. */
export function EditedTable<T>(props: EditedTableProps<T>) {
  const { title, rows, keyOf, empty, columns, add, unavailable, menu, dialog } = props
  const [edited, setEdited] = useState<{ readonly row: T | undefined }>()
  return (
    <Card
      title={title}
      flush
      tools={
        <Button
          small
          icon="plus"
          unavailable={unavailable}
          onClick={() => setEdited({ row: undefined })}
        >
          {add}
        </Button>
      }
    >
      <Table
        label={title}
        rows={rows}
        keyOf={keyOf}
        empty={empty}
        columns={[
          ...columns,
          {
            key: 'tools',
            title: 'Actions',
            isTitleHidden: true,
            isNumeric: true,
            isEssential: true,
            cell: (row) => menu(row, () => setEdited({ row })),
          },
        ]}
      />
      {edited && dialog(edited.row, () => setEdited(undefined))}
    </Card>
  )
}
