import { useState, type ReactNode } from 'react'

import { Button } from '../../components/button.tsx'
import { ConfirmDialog } from '../../components/dialog.tsx'
import { Menu, type MenuItem } from '../../components/menu.tsx'

interface RemovableMenuProps {
  readonly name: string
  /** What else can be done with it. */
  readonly items: readonly MenuItem[]
  /** Why it cannot be removed now. */
  readonly unavailable?: string | undefined
  readonly onRemove: () => void
  /** What the dialog says about the removal. */
  readonly children: ReactNode
}

/** The menu of a row of a list; its last entry removes the row, and asks first. */
export function RemovableMenu(props: RemovableMenuProps) {
  const { name, items, unavailable, onRemove, children } = props
  const [isAsking, setAsking] = useState(false)
  return (
    <>
      <Menu
        trigger={<Button small tone="plain" icon="more" label={`Actions of ${name}`} />}
        groups={[
          { items },
          {
            items: [
              { text: 'Remove', icon: 'trash', unavailable, onSelect: () => setAsking(true) },
            ],
          },
        ]}
      />
      {isAsking && (
        <ConfirmDialog
          title={`Remove ${name}`}
          action="Remove"
          icon="trash"
          onClose={() => setAsking(false)}
          onConfirm={() => {
            setAsking(false)
            onRemove()
          }}
        >
          {children}
        </ConfirmDialog>
      )}
    </>
  )
}
